// shapetracker for C++17: the functions of shapetracker.h as classes that end what they hold, and results that are a value or an
// error. Nothing is thrown unless value() is called on an error.
#ifndef SHAPETRACKER_HPP
#define SHAPETRACKER_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "shapetracker.h"

namespace shapetracker {

// Why something could not be done.
struct error {
    // The operation, such as `reshape`.
    std::string operation;
    // A stable name to branch on, such as `size_mismatch`; st_error_kind lists them.
    std::string kind;
    // What is wrong, for people.
    std::string sentence;
    // The first byte in the text that was given, and the one behind the last.
    std::optional<std::pair<std::size_t, std::size_t>> place;

    std::string text() const { return operation + ": " + sentence; }
};

// A value, or why there is none.
template <class T>
class [[nodiscard]] result {
public:
    using value_type = T;

    result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
    result(struct error why) : held_(std::in_place_index<1>, std::move(why)) {}

    bool has_value() const noexcept { return held_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    // The value, which must be there.
    T &operator*() & { return *std::get_if<0>(&held_); }
    const T &operator*() const & { return *std::get_if<0>(&held_); }
    T &&operator*() && { return std::move(*std::get_if<0>(&held_)); }
    T *operator->() { return std::get_if<0>(&held_); }
    const T *operator->() const { return std::get_if<0>(&held_); }

    // The error, which must be there.
    const struct error &error() const { return *std::get_if<1>(&held_); }

    // The value; an error is thrown as a std::runtime_error with its sentence.
    T &value() & { return check(), **this; }
    const T &value() const & { return check(), **this; }
    T &&value() && { return check(), std::move(**this); }

    // What a function makes of the value, a result itself; or the error.
    template <class F>
    auto and_then(F &&next) const -> std::invoke_result_t<F, const T &> {
        if (has_value()) return std::forward<F>(next)(**this);
        return error();
    }

private:
    void check() const {
        if (!has_value()) throw std::runtime_error(error().text());
    }

    std::variant<T, struct error> held_;
};

namespace detail {

inline error taken(st_error *raw) {
    error found{st_error_operation(raw), st_error_kind(raw), st_error_sentence(raw), std::nullopt};
    std::size_t begin = 0, end = 0;
    if (st_error_place(raw, &begin, &end)) found.place.emplace(begin, end);
    st_error_free(raw);
    return found;
}

template <class T, void (*End)(T *)>
struct deleter {
    void operator()(T *handle) const noexcept { End(handle); }
};

template <class T, void (*End)(T *)>
using owned = std::unique_ptr<T, deleter<T, End>>;

// Calls a function that writes a handle, as an object of a class that owns one.
template <class Class, class Raw, class F>
result<Class> made(F &&call) {
    Raw *raw = nullptr;
    if (st_error *why = call(&raw)) return taken(why);
    return Class(raw);
}

template <class T, class F>
result<T> asked(F &&call) {
    T value{};
    if (st_error *why = call(&value)) return taken(why);
    return value;
}

template <class F>
result<std::string> text(F &&call) {
    char *raw = nullptr;
    if (st_error *why = call(&raw)) return taken(why);
    owned<char, st_text_free> ended(raw);
    return std::string(raw);
}

inline const char *or_null(const std::string &text) { return text.empty() ? nullptr : text.c_str(); }

inline std::vector<const char *> texts(const std::vector<std::string> &all) {
    std::vector<const char *> raw;
    for (const std::string &one : all) raw.push_back(one.c_str());
    return raw;
}

}  // namespace detail

// Numbers, one for each axis.
using numbers = std::vector<std::int64_t>;
// Pairs of numbers, one for each axis.
using pairs = std::vector<std::array<std::int64_t, 2>>;

// Expressions: the index of a tracker (number 0 is the address, number 1 whether there is one), or one that was read.
class expression {
public:
    explicit expression(st_expression *raw) : held_(raw) {}

    // Reads text of `python` or `c` over variables of which `known` says the ranges: "x=0..10, y=0..N".
    static result<expression> read(const std::string &text, const std::string &known = "", const std::string &given = "",
                                   const std::string &language = "python") {
        return detail::made<expression, st_expression>([&](st_expression **out) {
            return st_expression_read(text.c_str(), detail::or_null(known), detail::or_null(given), language.c_str(), out);
        });
    }

    result<expression> simplify() const {
        return detail::made<expression, st_expression>([&](auto out) { return st_expression_simplify(get(), out); });
    }
    result<std::string> text(std::size_t number = 0, const std::string &language = "python") const {
        return detail::text([&](char **out) { return st_expression_text(get(), number, language.c_str(), out); });
    }
    result<std::string> code(const std::string &language) const {
        return detail::text([&](char **out) { return st_expression_code(get(), language.c_str(), out); });
    }
    // All nodes, operands before what is made of them. The names in them live as long as this does.
    std::vector<st_node> nodes() const {
        std::vector<st_node> all(st_expression_nodes(get()));
        for (std::size_t number = 0; number < all.size(); number++) {
            if (st_error *why = st_expression_node(get(), number, &all[number])) {
                st_error_free(why);
                return {};
            }
        }
        return all;
    }
    // The number of the node that is one of the expressions.
    result<std::size_t> root(std::size_t number = 0) const {
        return detail::asked<std::size_t>([&](std::size_t *out) { return st_expression_root(get(), number, out); });
    }
    result<std::int64_t> evaluate(const numbers &values, std::size_t number = 0) const {
        return detail::asked<std::int64_t>([&](std::int64_t *out) {
            return st_expression_evaluate(get(), number, values.data(), values.size(), out);
        });
    }

    const st_expression *get() const noexcept { return held_.get(); }

private:
    detail::owned<st_expression, st_expression_free> held_;
};

class tracker;

// For which values of the names a tracker is one strided view.
class answer {
public:
    explicit answer(st_answer *raw) : held_(raw) {}

    // `all`, `formula`, `never` or `undecided`.
    std::string kind() const { return st_answer_kind(get()); }
    std::string sentence() const { return st_answer_sentence(get()); }
    // The condition as an expression of Python.
    std::string guard() const { return st_answer_guard(get()); }
    // The one view, where there is one set of strides for all values.
    std::optional<tracker> view() const;
    // The evidence that it is not one view.
    std::optional<st_witness> witness() const {
        st_witness found{};
        if (!st_answer_witness(get(), &found)) return std::nullopt;
        return found;
    }

    const st_answer *get() const noexcept { return held_.get(); }

private:
    detail::owned<st_answer, st_answer_free> held_;
};

// The layout of a tensor, whose sizes are numbers or names. It does not change: operations make new ones.
class tracker {
public:
    explicit tracker(st_tracker *raw) : held_(raw) {}

    // The row-major tracker of a shape.
    static result<tracker> contiguous(const numbers &shape) {
        return made([&](st_tracker **out) { return st_tracker_new(shape.data(), shape.size(), out); });
    }
    // What a text says: a chain of movement operations, a view, `memref<4x6xf32, strided<[1, 4]>>`.
    static result<tracker> read(const std::string &text, const std::string &known = "") {
        return made([&](st_tracker **out) { return st_tracker_read(text.c_str(), detail::or_null(known), out); });
    }
    static result<tracker> of(const st_view &view) {
        return made([&](st_tracker **out) { return st_tracker_of_view(&view, out); });
    }

    result<tracker> reshape(const numbers &shape) const { return moved(st_tracker_reshape, shape); }
    result<tracker> permute(const numbers &axes) const { return moved(st_tracker_permute, axes); }
    result<tracker> expand(const numbers &sizes) const { return moved(st_tracker_expand, sizes); }
    result<tracker> flip(const numbers &axes) const { return moved(st_tracker_flip, axes); }
    result<tracker> pad(const pairs &before_and_after) const { return moved(st_tracker_pad, before_and_after); }
    result<tracker> shrink(const pairs &begin_and_end) const { return moved(st_tracker_shrink, begin_and_end); }
    // Calls of methods as a text says them: "unfold(0, 3, 1).T", "[..., ::2]".
    result<tracker> apply(const std::string &calls, const std::string &known = "") const {
        return made([&](st_tracker **out) {
            return st_tracker_apply(get(), calls.c_str(), detail::or_null(known), out);
        });
    }
    // This, and then a later tracker, whose addresses are positions of this one.
    result<tracker> then(const tracker &later) const {
        return made([&](st_tracker **out) { return st_tracker_then(get(), later.get(), out); });
    }
    // The tracker of numbers where names have values.
    result<tracker> at(const std::vector<std::pair<std::string, std::int64_t>> &values) const {
        std::vector<const char *> names;
        numbers each;
        for (const auto &[name, value] : values) {
            names.push_back(name.c_str());
            each.push_back(value);
        }
        return made([&](st_tracker **out) {
            return st_tracker_at(get(), names.data(), each.data(), each.size(), out);
        });
    }

    std::size_t rank() const noexcept { return st_tracker_rank(get()); }
    // How many views there are, one over the other.
    std::size_t views() const noexcept { return st_tracker_views(get()); }
    result<st_view> view(std::size_t number = 0) const {
        return detail::asked<st_view>([&](st_view *out) { return st_tracker_view(get(), number, out); });
    }
    // The size of each axis, which must be numbers.
    result<numbers> shape() const {
        return view(views() - 1).and_then([](const st_view &last) -> result<numbers> {
            return numbers(last.shape, last.shape + last.rank);
        });
    }
    result<std::string> text() const {
        return detail::text([&](char **out) { return st_tracker_text(get(), out); });
    }
    result<std::string> document() const {
        return detail::text([&](char **out) { return st_tracker_document(get(), out); });
    }
    // The address of an element; nothing where it is masked.
    result<std::optional<std::int64_t>> address(const numbers &index) const {
        bool has_address = false;
        std::int64_t address = 0;
        if (st_error *why = st_tracker_address(get(), index.data(), index.size(), &has_address, &address)) {
            return detail::taken(why);
        }
        return has_address ? std::optional<std::int64_t>(address) : std::nullopt;
    }
    result<std::int64_t> buffer_length() const {
        return detail::asked<std::int64_t>([&](std::int64_t *out) { return st_tracker_buffer_length(get(), out); });
    }
    // For each axis its stride, where the address is affine along it.
    result<std::vector<std::optional<std::int64_t>>> real_strides() const {
        std::array<std::int64_t, ST_MAX_RANK> strides{};
        std::array<bool, ST_MAX_RANK> are_strides{};
        if (st_error *why = st_tracker_real_strides(get(), strides.data(), are_strides.data(), strides.size())) {
            return detail::taken(why);
        }
        std::vector<std::optional<std::int64_t>> found(rank());
        for (std::size_t axis = 0; axis < found.size(); axis++) {
            if (are_strides[axis]) found[axis] = strides[axis];
        }
        return found;
    }
    result<bool> is_contiguous() const {
        return detail::asked<bool>([&](bool *out) { return st_tracker_is_contiguous(get(), out); });
    }
    result<answer> single_view() const {
        return detail::made<answer, st_answer>([&](auto out) { return st_tracker_single_view(get(), out); });
    }
    result<bool> overlaps(const tracker &other) const {
        return detail::asked<bool>([&](bool *out) { return st_tracker_overlap(get(), other.get(), out, nullptr); });
    }
    result<expression> index() const {
        return detail::made<expression, st_expression>([&](auto out) { return st_tracker_index(get(), out); });
    }

    const st_tracker *get() const noexcept { return held_.get(); }

private:
    template <class F>
    static result<tracker> made(F &&call) {
        return detail::made<tracker, st_tracker>(std::forward<F>(call));
    }
    using operation = st_error *(const st_tracker *, const std::int64_t *, std::size_t, st_tracker **);
    result<tracker> moved(operation *call, const numbers &values) const {
        return made([&](st_tracker **out) { return call(get(), values.data(), values.size(), out); });
    }
    result<tracker> moved(operation *call, const pairs &values) const {
        numbers flat;
        for (const auto &[first, second] : values) {
            flat.push_back(first);
            flat.push_back(second);
        }
        return made([&](st_tracker **out) { return call(get(), flat.data(), values.size(), out); });
    }

    detail::owned<st_tracker, st_tracker_free> held_;
};

inline std::optional<tracker> answer::view() const {
    st_tracker *raw = nullptr;
    if (st_error *why = st_answer_view(get(), &raw)) {
        st_error_free(why);
    }
    return raw == nullptr ? std::nullopt : std::optional<tracker>(tracker(raw));
}

// The loops of a statement over several layouts. It changes as loops are split.
class nest {
public:
    explicit nest(st_nest *raw) : held_(raw) {}

    // Layouts and one statement: "x = (n,).pad((1, 1)); w = (3,); y = (n,); y[i] += x[i + k] * w[k]".
    static result<nest> read(const std::string &text, const std::string &known = "") {
        return detail::made<nest, st_nest>(
            [&](st_nest **out) { return st_nest_read(text.c_str(), detail::or_null(known), out); });
    }

    // Each of these changes the nest; where it is refused, the nest stays what it was.
    [[nodiscard]] std::optional<error> split(const std::string &loop, const std::vector<std::string> &factors) {
        std::vector<const char *> raw = detail::texts(factors);
        return done(st_nest_split(held_.get(), loop.c_str(), raw.data(), raw.size()));
    }
    [[nodiscard]] std::optional<error> split_where_affine() { return done(st_nest_split_where_affine(held_.get())); }
    [[nodiscard]] std::optional<error> reorder(const std::vector<std::string> &loops) {
        std::vector<const char *> raw = detail::texts(loops);
        return done(st_nest_reorder(held_.get(), raw.data(), raw.size()));
    }
    [[nodiscard]] std::optional<error> clip(const std::vector<std::string> &accesses, bool only_reduced = false) {
        std::vector<const char *> raw = detail::texts(accesses);
        return done(st_nest_clip(held_.get(), raw.data(), raw.size(), only_reduced));
    }
    // The loops around a body, or around the statement itself.
    result<std::string> code(const std::string &language, const char *body = nullptr, const char *before = nullptr,
                             const char *after = nullptr) const {
        return detail::text([&](char **out) {
            return st_nest_code(held_.get(), language.c_str(), body, before, after, out);
        });
    }

private:
    static std::optional<error> done(st_error *why) {
        return why == nullptr ? std::nullopt : std::optional<error>(detail::taken(why));
    }

    detail::owned<st_nest, st_nest_free> held_;
};

// How the elements of a tracker are moved.
class plan {
public:
    explicit plan(st_plan *raw) : held_(raw) {}

    static result<plan> of(const tracker &layout, std::size_t element_bytes) {
        return detail::made<plan, st_plan>([&](auto out) { return st_plan_new(layout.get(), element_bytes, out); });
    }

    // Reads the tensor out of its buffer, with a value where it is masked.
    template <class T>
    [[nodiscard]] std::optional<error> read(const std::vector<T> &buffer, std::vector<T> &tensor, const T &fill,
                              std::size_t threads = 1) const {
        static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>, "elements are moved as bytes");
        st_error *why = st_plan_read(held_.get(), buffer.data(), buffer.size() * sizeof(T), tensor.data(),
                                     tensor.size() * sizeof(T), &fill, sizeof(T), threads);
        return why == nullptr ? std::nullopt : std::optional<error>(detail::taken(why));
    }
    // Writes a tensor through the tracker into its buffer.
    template <class T>
    [[nodiscard]] std::optional<error> write(const std::vector<T> &tensor, std::vector<T> &buffer, std::size_t threads = 1) const {
        static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>, "elements are moved as bytes");
        st_error *why = st_plan_write(held_.get(), tensor.data(), tensor.size() * sizeof(T), buffer.data(),
                                      buffer.size() * sizeof(T), threads);
        return why == nullptr ? std::nullopt : std::optional<error>(detail::taken(why));
    }

private:
    detail::owned<st_plan, st_plan_free> held_;
};

// A layout of CuTe.
class layout {
public:
    explicit layout(st_layout *raw) : held_(raw) {}

    static result<layout> read(const std::string &text) {
        return detail::made<layout, st_layout>([&](auto out) { return st_layout_read(text.c_str(), out); });
    }
    // This layout at the values of a second one.
    result<layout> compose(const layout &second) const {
        return detail::made<layout, st_layout>(
            [&](auto out) { return st_layout_compose(held_.get(), second.held_.get(), out); });
    }
    result<std::string> text() const {
        return detail::text([&](char **out) { return st_layout_text(held_.get(), out); });
    }
    // The tracker with an axis for each mode.
    result<tracker> to_tracker() const {
        return detail::made<tracker, st_tracker>([&](auto out) { return st_layout_tracker(held_.get(), out); });
    }

private:
    detail::owned<st_layout, st_layout_free> held_;
};

}  // namespace shapetracker

#endif
