// Package lower turns rewritten logical trees into plans: what is to be computed becomes how.
//
// It chooses the order of joins, computes keys below the operators that need them, fuses maps, filters and
// projections, computes equal parts once, and finds queries that an index answers by itself. It keeps the
// promises that package plan asks of a plan's maker. Its choices:
//
//   - One join of many inputs is one chain of stages. Of the orders that go on greedily from each input that one
//     is taken in which fewest rows are kept between the stages, guessed from how large relations are (as far
//     as the binder was told) and what filters leave; cross products come last.
//   - A condition over several inputs that is no key is tested once all its inputs are there.
//   - An equation whose side spans several inputs ends the chain: the side is computed above it, and a new
//     chain begins.
//   - An aggregate without GROUP BY is its groups, of which there is at most one, and the values over nothing
//     less one such row for each group.
//
// Everything here is a pure function, safe for concurrent use.
package lower
