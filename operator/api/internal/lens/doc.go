// Package lens converts between two versions of an API without losing
// anything either way.
//
// The fields of both versions are split into groups that have nothing to do
// with each other. A group is a pair of pure functions: lift puts what the old
// version says onto a value of the new one, and project shows a value of the
// new one in the old. Neither needs to be lossless. What does not survive is
// kept beside the object as JSON, per group, in annotations:
//
//   - on an object in the old version, what it cannot express of the new one;
//   - on an object in the new version, how the old one had spelled a value
//     whose spelling says more than the value does.
//
// What is kept counts only as long as the group has not been changed on the
// other side since, so an edit always wins over what was kept, and an edit of
// one group never touches another.
//
// A pair of functions serves if, for every base, a and b,
//
//	lift(lift(base, a), a) == lift(base, a)
//
// The package knows nothing of RedisClusters.
package lens
