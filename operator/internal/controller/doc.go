// Package controller reconciles RedisClusters: gather what is there, plan
// (package plan), apply the plan, write one status (package status). Only
// gathering and applying talk to the API server.
package controller
