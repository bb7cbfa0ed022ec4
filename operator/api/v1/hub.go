package v1

// Hub marks this version as the one that the others are converted through.
func (*RedisCluster) Hub() {}
