/* shapetracker: exact tensor layouts, index expressions and copies.
 *
 * Made of the documentation in crates/shapetracker-c/src by its test `header`; changes here are overwritten.
 *
 * A function that can fail returns an error, or NULL where it succeeded, and only then writes its result. Whoever has a
 * handle ends it, once, with the function of its kind. A text that a function wrote is ended by st_text_free; texts that a
 * function returned live as long as the handle that they were asked of.
 *
 * All but nests do not change, and any number of threads may use one of them at a time; a nest is used by one thread at
 * a time. Null in the place of a handle is an error, and so is a handle of another kind. A handle that was ended is
 * undefined behaviour, except in builds with debug assertions, where it is an error, too. A list points to as many entries as
 * the number beside it says, and may be NULL where there are none; texts are UTF-8 and end with a zero byte. */

#ifndef SHAPETRACKER_H
#define SHAPETRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * The most axes that a tensor has.
 */
#define ST_MAX_RANK 64

/**
 * What a node of an expression is. These numbers do not change.
 */
typedef enum {
  /**
   * The number `value`.
   */
  ST_OP_INT = 0,
  /**
   * True or false: `value` is 1 or 0.
   */
  ST_OP_BOOL = 1,
  /**
   * The variable whose number is `value`, and whose name is `name`.
   */
  ST_OP_VARIABLE = 2,
  /**
   * The sum of two operands.
   */
  ST_OP_ADD = 3,
  /**
   * The first operand less the second.
   */
  ST_OP_SUBTRACT = 4,
  /**
   * The product of two operands.
   */
  ST_OP_MULTIPLY = 5,
  /**
   * The quotient of two operands, rounded down.
   */
  ST_OP_DIVIDE = 6,
  /**
   * The remainder of that quotient, which has the sign of the divisor.
   */
  ST_OP_REMAINDER = 7,
  /**
   * The smaller of two operands.
   */
  ST_OP_MINIMUM = 8,
  /**
   * The larger of two operands.
   */
  ST_OP_MAXIMUM = 9,
  /**
   * The exclusive or of the bits of two operands.
   */
  ST_OP_XOR = 10,
  /**
   * Whether the first operand is less than the second.
   */
  ST_OP_LESS = 11,
  /**
   * Whether the first operand is at most the second.
   */
  ST_OP_LESS_OR_EQUAL = 12,
  /**
   * Whether the first operand is greater than the second.
   */
  ST_OP_GREATER = 13,
  /**
   * Whether the first operand is at least the second.
   */
  ST_OP_GREATER_OR_EQUAL = 14,
  /**
   * Whether two operands are equal.
   */
  ST_OP_EQUAL = 15,
  /**
   * Whether two operands are different.
   */
  ST_OP_NOT_EQUAL = 16,
  /**
   * Whether both conditions hold.
   */
  ST_OP_AND = 17,
  /**
   * Whether at least one of two conditions holds.
   */
  ST_OP_OR = 18,
  /**
   * Whether `value <= operand < end`.
   */
  ST_OP_WITHIN = 19,
  /**
   * Whether a condition does not hold.
   */
  ST_OP_NOT = 20,
  /**
   * The second operand where the first, a condition, holds, and the third elsewhere.
   */
  ST_OP_SELECT = 21,
} st_op;

/**
 * For which values of the names a tracker is one strided view. A tracker of numbers has the one choice of no values.
 */
typedef struct st_answer st_answer;

/**
 * Why a call could not do what it was asked for: the operation, the kind of mistake, its place in a text, and a sentence.
 */
typedef struct st_error st_error;

/**
 * Expressions over variables with ranges. One that is read or simplified is one expression, number 0, and where a condition was given,
 * number 1. The index of a tracker is two: the address, number 0, and whether there is one, number 1.
 */
typedef struct st_expression st_expression;

/**
 * A layout of CuTe: nested sizes and strides, `((2,2),4):((1,8),2)`, a map from coordinates to numbers.
 */
typedef struct st_layout st_layout;

/**
 * The loops around a statement over several layouts. It changes as loops are split and put into another order, so that no two threads
 * use one at a time.
 */
typedef struct st_nest st_nest;

/**
 * How the elements of a tracker are moved: loops with few divisions, or none. It does not change, and several threads may run it.
 */
typedef struct st_plan st_plan;

/**
 * The layout of a tensor: which address of its buffer each element has, if it has one. It does not change: operations make new ones.
 *
 * Sizes may be names, which a text declares (`st_tracker_read`): all functions take both, and where an answer is one for numbers alone
 * they say so by an error of the kind `names`.
 */
typedef struct st_tracker st_tracker;

/**
 * One strided view as plain numbers, of which those of the first `rank` axes count. Element `i` lies at `offset` plus the sum of
 * `i[axis] * strides[axis]`; where `is_masked`, only elements with `begins[axis] <= i[axis] < ends[axis]` on every axis have an
 * address.
 */
typedef struct {
  /**
   * The number of axes.
   */
  size_t rank;
  /**
   * Whether there is a mask.
   */
  bool is_masked;
  /**
   * The address of the element whose indices are all 0.
   */
  int64_t offset;
  /**
   * The size of each axis.
   */
  int64_t shape[ST_MAX_RANK];
  /**
   * How far the address moves for one step along each axis, in elements.
   */
  int64_t strides[ST_MAX_RANK];
  /**
   * The first index of each axis that is not masked.
   */
  int64_t begins[ST_MAX_RANK];
  /**
   * The index behind the last one of each axis that is not masked.
   */
  int64_t ends[ST_MAX_RANK];
} st_view;

/**
 * Proof that a tracker is not one view, which anyone can check by asking for the addresses of a few elements.
 *
 * Where `is_uneven_step`, two steps along `axis`, from the first two indices to those that are one further there, move the address
 * by different amounts: from `before` to `after`. Else the first two indices have an address, and the third, which lies between them on
 * every axis, has none, so that the elements with an address are no box.
 */
typedef struct {
  /**
   * Whether it is two steps; else three indices.
   */
  bool is_uneven_step;
  /**
   * The axis of the steps.
   */
  size_t axis;
  /**
   * The number of axes: so many entries of each index count.
   */
  size_t rank;
  /**
   * The indices.
   */
  int64_t indices[3][ST_MAX_RANK];
  /**
   * The addresses from which the two steps go.
   */
  int64_t before[2];
  /**
   * The addresses to which they go.
   */
  int64_t after[2];
} st_witness;

/**
 * A node of expressions, among those that `st_expression_nodes` counts: operands come before what is made of them.
 */
typedef struct {
  /**
   * What it is.
   */
  st_op op;
  /**
   * How many operands it has.
   */
  size_t operand_count;
  /**
   * The numbers of the nodes of the operands.
   */
  size_t operands[3];
  /**
   * A number, the number of a variable, or where a range begins.
   */
  int64_t value;
  /**
   * Where a range ends.
   */
  int64_t end;
  /**
   * The least value that the node can have, as far as is known at once; 0 or 1 of a condition.
   */
  int64_t least;
  /**
   * The greatest value that the node can have.
   */
  int64_t greatest;
  /**
   * The name of a variable, else null. It lives as long as the expressions do.
   */
  const char *name;
} st_node;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the library: `0.1.0`. The text lives forever.
 */
const char *st_version(void);

/**
 * The operation that could not be done, such as `reshape`. The text lives as long as the error does.
 */
const char *st_error_operation(const st_error *error);

/**
 * The sort of mistake, as a stable name to branch on: those of the library's JSON (`size_mismatch`, `overflow`, `axis_out_of_range`,
 * `undecided`, `syntax` ..) and of this interface: `null` (a null pointer), `handle` (a handle of another kind, or a freed one),
 * `utf8` (a text that is no UTF-8), `length` (memory that is too short), `names` (numbers are needed, and sizes have names), `panic`
 * (a defect of the library). The text lives as long as the error does.
 */
const char *st_error_kind(const st_error *error);

/**
 * What is wrong, and where it can be said what would work, as a sentence for the person who made the mistake. The text lives as long
 * as the error does.
 */
const char *st_error_sentence(const st_error *error);

/**
 * Where in the text that was given: the first byte and the one behind the last. False where the mistake is in no text.
 */
bool st_error_place(const st_error *error,
                    size_t *begin,
                    size_t *end);

/**
 * Ends an error; null is left alone.
 */
void st_error_free(st_error *error);

/**
 * Ends a text that a function of this library made; null is left alone. Texts that live as long as a handle are not ended.
 */
void st_text_free(char *text);

/**
 * The row-major tracker of a shape.
 *
 * Errors: a negative size (`negative_size`), more than 64 axes, more elements than an `int64_t` counts (`overflow`).
 */
st_error *st_tracker_new(const int64_t *shape,
                         size_t rank,
                         st_tracker **out);

/**
 * The tracker that a text says: a chain such as `(3, 2).permute(1, 0).reshape(6)` of any method of NumPy, PyTorch or this library,
 * a view such as `(2, 3):(1, 2) offset 4`, or a layout as a compiler prints it, `memref<2x3xf32, strided<[1, 2], offset: 4>>`.
 *
 * Sizes, strides, offsets and bounds may be names. `known` says what is known of them, such as `"T=1..4097, H=8*h, s+L <= N"`; it may
 * be null. A name of which nothing is said is at least 1, or any integer where it occurs in strides only.
 *
 * Errors: a text that cannot be read (`syntax`, with its place), operations that cannot be done (with theirs).
 */
st_error *st_tracker_read(const char *text,
                          const char *known,
                          st_tracker **out);

/**
 * The tracker of one strided view, such as a memref or an array of another library has.
 *
 * Errors: a mask outside of its axis, an address past an `int64_t`.
 */
st_error *st_tracker_of_view(const st_view *view, st_tracker **out);

/**
 * Ends a tracker; null is left alone.
 */
void st_tracker_free(st_tracker *tracker);

/**
 * The same elements in row-major order under another shape, of which one size may be -1. Another view goes on top where no single
 * one does it.
 */
st_error *st_tracker_reshape(const st_tracker *tracker,
                             const int64_t *shape,
                             size_t rank,
                             st_tracker **out);

/**
 * The axes in a new order. Negative axes count from behind the last one.
 */
st_error *st_tracker_permute(const st_tracker *tracker, const int64_t *axes, size_t rank, st_tracker **out);

/**
 * Axes of size 1 repeated to the given sizes; -1 for an axis that stays.
 */
st_error *st_tracker_expand(const st_tracker *tracker, const int64_t *sizes, size_t rank, st_tracker **out);

/**
 * Masked elements before and after each axis: `2 * rank` numbers, two an axis.
 */
st_error *st_tracker_pad(const st_tracker *tracker,
                         const int64_t *before_and_after,
                         size_t rank,
                         st_tracker **out);

/**
 * The half-open range of each axis: `2 * rank` numbers, the first index and the one behind the last.
 */
st_error *st_tracker_shrink(const st_tracker *tracker,
                            const int64_t *begin_and_end,
                            size_t rank,
                            st_tracker **out);

/**
 * The named axes reversed.
 */
st_error *st_tracker_flip(const st_tracker *tracker, const int64_t *axes, size_t count, st_tracker **out);

/**
 * The tensor after calls of methods, as a text says them: `"step(2, 1)"`, `"unfold(0, 3, 1).T"`, `"[..., ::2]"`. Every method that a
 * chain may have can be called, with names in the place of sizes, too; `known` says what is known of names that are new, and may be
 * null.
 *
 * Errors: those of `st_tracker_read`; places are those in `calls`.
 */
st_error *st_tracker_apply(const st_tracker *tracker,
                           const char *calls,
                           const char *known,
                           st_tracker **out);

/**
 * `base`, and then `later`, whose addresses are positions of `base` in row-major order.
 */
st_error *st_tracker_then(const st_tracker *base, const st_tracker *later, st_tracker **out);

/**
 * The tracker of numbers where names have values: `count` names, with a value each. A tracker of numbers stays what it is.
 *
 * Errors: a name without a value, values that do not satisfy what is known and needed.
 */
st_error *st_tracker_at(const st_tracker *tracker,
                        const char *const *names,
                        const int64_t *values,
                        size_t count,
                        st_tracker **out);

/**
 * The number of axes; 0 for what is no tracker.
 */
size_t st_tracker_rank(const st_tracker *tracker);

/**
 * How many views the tracker needs, one over the other: 1 where it is known to be one strided view; 0 for what is no tracker.
 */
size_t st_tracker_views(const st_tracker *tracker);

/**
 * One of the views as numbers, of which number 0 is next to memory: shape, strides, offset and mask. The last one has the shape of the
 * tensor.
 *
 * Errors: a view that there is not (`views`); sizes that are names (`names`): `st_tracker_document` has their views.
 */
st_error *st_tracker_view(const st_tracker *tracker,
                          size_t number,
                          st_view *out);

/**
 * The tracker as text, which `st_tracker_read` reads again: `(3, 2):(1, 3)`.
 */
st_error *st_tracker_text(const st_tracker *tracker, char **out);

/**
 * Shape and views as a document of JSON: `{"shape":[3,2],"views":[{"shape":[3,2],"strides":[1,3],"offset":0,"mask":null}]}`. Of a
 * tracker of names numbers may be texts, and it also has `names`, what is known of them, and `needs`, what must hold of them.
 */
st_error *st_tracker_document(const st_tracker *tracker,
                              char **out);

/**
 * The address of an element, and whether it has one: `address` is written where `has_address` is true, and may be null.
 *
 * Errors: an index with another number of entries than there are axes (`rank`), or outside of the shape (`range_outside`).
 */
st_error *st_tracker_address(const st_tracker *tracker,
                             const int64_t *index,
                             size_t rank,
                             bool *has_address,
                             int64_t *address);

/**
 * How many elements the buffer must have: one more than the largest address that is read. Asked of numbers.
 *
 * Errors: an address below 0 (`address_outside`), what takes more work than is done (`undecided`).
 */
st_error *st_tracker_buffer_length(const st_tracker *tracker, int64_t *out);

/**
 * For each axis its stride where the address is affine along it, and whether it is: `room` numbers and truths, as many as there are axes
 * at least. Of several views this asks for the strides of all together. Asked of numbers.
 *
 * Errors: too little room (`length`), what takes more work than is done (`undecided`).
 */
st_error *st_tracker_real_strides(const st_tracker *tracker,
                                  int64_t *strides,
                                  bool *are_strides,
                                  size_t room);

/**
 * Whether the elements lie one after another in row-major order, from any address on, without a mask.
 *
 * Errors: with names, that it depends on them or is not known (`names`).
 */
st_error *st_tracker_is_contiguous(const st_tracker *tracker, bool *out);

/**
 * For which values of names the tracker is one strided view, with the view or the evidence that it is none: an answer for numbers,
 * too, which have only one choice of values.
 */
st_error *st_tracker_single_view(const st_tracker *tracker,
                                 st_answer **out);

/**
 * Whether two trackers over one buffer share an address: for some values of the names, where there are names. `why` is a sentence with
 * the elements that do, or the reason why none do; it may be null.
 *
 * Errors: what takes more work than is done, or is not known (`undecided`).
 */
st_error *st_tracker_overlap(const st_tracker *first,
                             const st_tracker *second,
                             bool *out,
                             char **why);

/**
 * The cheapest expressions that are found for the address of an element, and for whether it has one, over its index: `idx0`, `idx1` ..,
 * and the names.
 */
st_error *st_tracker_index(const st_tracker *tracker,
                           st_expression **out);

/**
 * `all` (one view for all values), `formula` (for exactly those where the guard holds), `never`, or `undecided` (where the guard holds
 * it is known to be one). The text lives as long as the answer does.
 */
const char *st_answer_kind(const st_answer *answer);

/**
 * The answer as a sentence: `one view if and only if T == 1 or H == 1`; of numbers the view, or the evidence. The text lives as long as
 * the answer does.
 */
const char *st_answer_sentence(const st_answer *answer);

/**
 * The condition under which it is one view, as an expression of Python over the names: `T == 1 or H == 1`, `True`, `False`. The text
 * lives as long as the answer does.
 */
const char *st_answer_guard(const st_answer *answer);

/**
 * The one view, as a tracker: it is the tensor wherever the guard holds. Null where it is never one view, or where no single set of
 * polynomials is the view for all values for which there is one.
 */
st_error *st_answer_view(const st_answer *answer,
                         st_tracker **out);

/**
 * Proof that it is not one view, at the values that `st_answer_value` has; false where there is none.
 */
bool st_answer_witness(const st_answer *answer, st_witness *out);

/**
 * The value that a name has where the witness proves that it is not one view: the name of that number, from 0 on, and its value, which
 * may be null; null where there are no more.
 */
const char *st_answer_value(const st_answer *answer,
                            size_t number,
                            int64_t *value);

/**
 * Ends an answer; null is left alone.
 */
void st_answer_free(st_answer *answer);

/**
 * Reads an expression, in which divisions round as those of the language do: `python` or `c`. `known` has the half-open ranges of the
 * variables and what else is known of them, such as `"x=0..10, y=0..N, N=1.."`; where it says nothing but ranges of numbers, every
 * variable must have one. `given` is a condition, or null: where it does not hold, simplifying may make anything of the expression.
 *
 * Errors: a text that cannot be read (`syntax`, with its place), a divisor that can be 0, values that leave an `int64_t`.
 */
st_error *st_expression_read(const char *text,
                             const char *known,
                             const char *given,
                             const char *language,
                             st_expression **out);

/**
 * The expression with the same values at no more cost, and the condition with it. The index of a tracker is as cheap as is found already.
 */
st_error *st_expression_simplify(const st_expression *expression,
                                 st_expression **out);

/**
 * One of the expressions as text of `python` or `c`, on one line.
 */
st_error *st_expression_text(const st_expression *expression,
                             size_t number,
                             const char *language,
                             char **out);

/**
 * Definitions in a language: `python`, `c`, `cuda`, `opencl`, `metal`, `wgsl`, `rust`, `mlir` or `latex`. What is used more than once is
 * computed once. The index of a tracker defines `index` and `valid`, another expression `value`, and `given` where there is a condition.
 *
 * Errors: a language that there is not, and what it does not have (`language`).
 */
st_error *st_expression_code(const st_expression *expression,
                             const char *language,
                             char **out);

/**
 * How many operations computing the expressions takes, all together, and how many of them are divisions and remainders by what is no
 * power of two. Either may be null.
 */
st_error *st_expression_cost(const st_expression *expression,
                             size_t *operations,
                             size_t *divisions);

/**
 * How many nodes the expressions are made of; 0 for what is no expression.
 */
size_t st_expression_nodes(const st_expression *expression);

/**
 * A node by its number. The numbers of its operands are less than its own, so that one loop walks over all.
 */
st_error *st_expression_node(const st_expression *expression, size_t number, st_node *out);

/**
 * The number of the node that is one of the expressions.
 */
st_error *st_expression_root(const st_expression *expression, size_t number, size_t *out);

/**
 * The name of a variable by its number, with the half-open range of its values, of which either end may be null; null where there is no
 * such variable. The name lives as long as the expressions do.
 */
const char *st_expression_variable(const st_expression *expression,
                                   size_t number,
                                   int64_t *begin,
                                   int64_t *end);

/**
 * The value of one of the expressions where the variables, in the order of their numbers, have values; a condition is 1 or 0.
 *
 * Errors: too few or too many values, a value outside the range of its variable.
 */
st_error *st_expression_evaluate(const st_expression *expression,
                                 size_t number,
                                 const int64_t *values,
                                 size_t count,
                                 int64_t *out);

/**
 * Ends expressions; null is left alone.
 */
void st_expression_free(st_expression *expression);

/**
 * The loops of a statement: lines, or parts with `;` between them, that are layouts as `st_tracker_read` reads them
 * (`x = (n,).pad((1, 1))`), sizes of loops (`i = 0..64`) and one statement (`y[i] += x[i + k] * w[k]`), whose right side is text of the
 * language that is written. Loops that are not on the left are reduced; padding of what is read is 0. `known` may be null.
 */
st_error *st_nest_read(const char *text,
                       const char *known,
                       st_nest **out);

/**
 * Runs a loop as several, the outermost first: the product of the factors is its size. Factors are texts, numbers or expressions over
 * the names. The loops are called as this one, with a number behind: `i0`, `i1`.
 */
st_error *st_nest_split(st_nest *nest,
                        const char *name,
                        const char *const *factors,
                        size_t count);

/**
 * Splits loops so that no access has a division that a split avoids.
 */
st_error *st_nest_split_where_affine(st_nest *nest);

/**
 * Puts all loops into an order: their names, the outermost first.
 */
st_error *st_nest_reorder(st_nest *nest, const char *const *names, size_t count);

/**
 * Runs the body only where the guards of some accesses hold, by shorter loops: reduced ones alone where `only_reduced`, so that what is
 * before and after these still is run for every element.
 */
st_error *st_nest_clip(st_nest *nest,
                       const char *const *accesses,
                       size_t count,
                       bool only_reduced);

/**
 * The loops as text of a language: `python`, `c`, `cuda`, `opencl`, `metal`, `wgsl`, `rust` or `mlir`. `body` stands in the innermost loop,
 * `before` and `after` around the innermost loops that are reduced; in them `{x}` is the index of the access `x`, and `{x?}` its guard.
 * Each may be null: then the body is the statement itself, and nothing stands around it.
 *
 * Errors: a language that there is not, and what it does not have (`language`).
 */
st_error *st_nest_code(const st_nest *nest,
                       const char *language,
                       const char *body,
                       const char *before,
                       const char *after,
                       char **out);

/**
 * Ends a nest; null is left alone.
 */
void st_nest_free(st_nest *nest);

/**
 * Plans copies of elements of so many bytes. Asked of numbers.
 *
 * Errors: elements of no bytes (`copy`), addresses below 0, what takes more work than is done (`undecided`).
 */
st_error *st_plan_new(const st_tracker *tracker, size_t element_bytes, st_plan **out);

/**
 * Reads the tensor out of its buffer into contiguous memory in row-major order, with the bytes of `fill`, one element, where it is masked;
 * null and no bytes stand for zeros. Lengths are in bytes, and are checked. `threads` may work at it: 1, or 0 for as many as the
 * machine runs at once.
 *
 * Errors: memory that is too short, or no whole number of elements (`copy`). Nothing is written then.
 */
st_error *st_plan_read(const st_plan *plan,
                       const void *buffer,
                       size_t buffer_bytes,
                       void *tensor,
                       size_t tensor_bytes,
                       const void *fill,
                       size_t fill_bytes,
                       size_t threads);

/**
 * Writes contiguous memory in row-major order through the tracker into its buffer. What the tracker does not reach stays, and what
 * stands where it is masked goes nowhere.
 *
 * Errors: those of `st_plan_read`, and two elements that share an address (`copy`).
 */
st_error *st_plan_write(const st_plan *plan,
                        const void *tensor,
                        size_t tensor_bytes,
                        void *buffer,
                        size_t buffer_bytes,
                        size_t threads);

/**
 * Ends a plan; null is left alone.
 */
void st_plan_free(st_plan *plan);

/**
 * The layout that a text of CuTe says: `((2,2),4):((1,8),2)`, or with `_` before static numbers.
 */
st_error *st_layout_read(const char *text, st_layout **out);

/**
 * The layout that is `first` at the values of `second`: the only one, or the reason why there is none.
 *
 * Errors: that there is none (`no_composition`), what takes more work than is done (`undecided`).
 */
st_error *st_layout_compose(const st_layout *first, const st_layout *second, st_layout **out);

/**
 * The layout as text, which `st_layout_read` reads again.
 */
st_error *st_layout_text(const st_layout *layout, char **out);

/**
 * The tracker with an axis for each mode: its index is a coordinate.
 */
st_error *st_layout_tracker(const st_layout *layout, st_tracker **out);

/**
 * Ends a layout; null is left alone.
 */
void st_layout_free(st_layout *layout);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SHAPETRACKER_H */
