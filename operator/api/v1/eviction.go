package v1

import "strings"

// evictionNames pairs each policy with what Redis calls it.
var evictionNames = []struct {
	policy EvictionPolicy
	redis  string
}{
	{EvictNone, "noeviction"},
	{EvictAllKeysLRU, "allkeys-lru"},
	{EvictAllKeysLFU, "allkeys-lfu"},
	{EvictAllKeysRandom, "allkeys-random"},
	{EvictVolatileLRU, "volatile-lru"},
	{EvictVolatileLFU, "volatile-lfu"},
	{EvictVolatileRandom, "volatile-random"},
	{EvictVolatileTTL, "volatile-ttl"},
}

// EvictionPolicyOf returns the policy that Redis calls by that name, in any
// case. A name that is not known is returned as it is.
func EvictionPolicyOf(name string) EvictionPolicy {
	for _, known := range evictionNames {
		if strings.EqualFold(known.redis, name) {
			return known.policy
		}
	}
	return EvictionPolicy(name)
}

// RedisName is what Redis calls the policy. A policy that is not known is
// returned as it is.
func (p EvictionPolicy) RedisName() string {
	for _, known := range evictionNames {
		if known.policy == p {
			return known.redis
		}
	}
	return string(p)
}

// EvictionPolicies are the policies that there are.
func EvictionPolicies() []EvictionPolicy {
	policies := make([]EvictionPolicy, 0, len(evictionNames))
	for _, known := range evictionNames {
		policies = append(policies, known.policy)
	}
	return policies
}
