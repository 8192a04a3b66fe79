// The same convolution on memory as MLIR lays it out: the strides are those of a memref, as MLIR prints it, and the index is walked node by
// node into instructions of the compiler's own, which are then run beside a direct convolution.
#include <cstdint>
#include <iostream>
#include <vector>

#include "shapetracker.hpp"

using shapetracker::numbers;

// A small machine: each value is made of earlier ones.
struct program {
    std::vector<st_node> nodes;
    std::size_t address, valid;

    std::vector<std::int64_t> run(const numbers &index) const {
        std::vector<std::int64_t> values;
        for (const st_node &node : nodes) {
            const auto operand = [&](std::size_t place) { return values[node.operands[place]]; };
            const auto floor = [](std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); };
            std::int64_t value = 0;
            switch (node.op) {
            case ST_OP_INT:
            case ST_OP_BOOL: value = node.value; break;
            case ST_OP_VARIABLE: value = index[static_cast<std::size_t>(node.value)]; break;
            case ST_OP_ADD: value = operand(0) + operand(1); break;
            case ST_OP_SUBTRACT: value = operand(0) - operand(1); break;
            case ST_OP_MULTIPLY: value = operand(0) * operand(1); break;
            case ST_OP_DIVIDE: value = floor(operand(0), operand(1)); break;
            case ST_OP_REMAINDER: value = operand(0) - operand(1) * floor(operand(0), operand(1)); break;
            case ST_OP_MINIMUM: value = std::min(operand(0), operand(1)); break;
            case ST_OP_MAXIMUM: value = std::max(operand(0), operand(1)); break;
            case ST_OP_XOR: value = operand(0) ^ operand(1); break;
            case ST_OP_LESS: value = operand(0) < operand(1); break;
            case ST_OP_LESS_OR_EQUAL: value = operand(0) <= operand(1); break;
            case ST_OP_GREATER: value = operand(0) > operand(1); break;
            case ST_OP_GREATER_OR_EQUAL: value = operand(0) >= operand(1); break;
            case ST_OP_EQUAL: value = operand(0) == operand(1); break;
            case ST_OP_NOT_EQUAL: value = operand(0) != operand(1); break;
            case ST_OP_AND: value = operand(0) & operand(1); break;
            case ST_OP_OR: value = operand(0) | operand(1); break;
            case ST_OP_WITHIN: value = node.value <= operand(0) && operand(0) < node.end; break;
            case ST_OP_NOT: value = !operand(0); break;
            case ST_OP_SELECT: value = operand(0) ? operand(1) : operand(2); break;
            }
            values.push_back(value);
        }
        return {values[address], values[valid]};
    }
};

int main() try {
    using shapetracker::tracker;
    // Channels last, with two more floats behind each row, from float 5 on: C, H and W are 3, 6 and 7.
    const tracker image = tracker::read("memref<3x6x7xf32, strided<[1, 23, 3], offset: 5>>").value();
    // Windows of 3 by 3 around each element: axes c, h, w, i and j.
    const tracker windows =
        image.pad({{0, 0}, {1, 1}, {1, 1}}).value().apply("unfold(1, 3, 1).unfold(2, 3, 1)").value();
    if (windows.shape().value() != numbers{3, 6, 7, 3, 3}) return 1;

    const shapetracker::expression index = windows.index().value();
    const program lowered{index.nodes(), index.root(0).value(), index.root(1).value()};
    std::vector<std::int64_t> memory(static_cast<std::size_t>(windows.buffer_length().value()));
    for (std::size_t at = 0; at < memory.size(); at++) memory[at] = static_cast<std::int64_t>(at * 7 % 23) - 11;

    // A plan reads the windows as one tensor, which has the same elements in the same order.
    std::vector<std::int64_t> copied(3 * 6 * 7 * 3 * 3);
    if (const auto why = shapetracker::plan::of(windows, sizeof(std::int64_t)).value().read<std::int64_t>(memory, copied, 0)) {
        std::cerr << why->text() << "\n";
        return 1;
    }

    for (std::int64_t h = 0; h < 6; h++) {
        for (std::int64_t w = 0; w < 7; w++) {
            std::int64_t sum = 0, wanted = 0;
            for (std::int64_t c = 0; c < 3; c++) {
                for (std::int64_t i = 0; i < 3; i++) {
                    for (std::int64_t j = 0; j < 3; j++) {
                        const std::int64_t weight = (c * 9 + i * 3 + j) % 5 - 2;
                        const std::vector<std::int64_t> read = lowered.run({c, h, w, i, j});
                        const std::int64_t value = read[1] ? memory.at(static_cast<std::size_t>(read[0])) : 0;
                        const std::int64_t place = (((c * 6 + h) * 7 + w) * 3 + i) * 3 + j;
                        if (copied.at(static_cast<std::size_t>(place)) != value) return 1;
                        sum += value * weight;
                        const std::int64_t y = h + i - 1, x = w + j - 1;
                        if (0 <= y && y < 6 && 0 <= x && x < 7) {
                            wanted += memory.at(static_cast<std::size_t>(5 + c + 23 * y + 3 * x)) * weight;
                        }
                    }
                }
            }
            if (sum != wanted) {
                std::cerr << "at " << h << ", " << w << " the sum is " << sum << ", and not " << wanted << "\n";
                return 1;
            }
        }
    }
    std::cout << index.text().value() << "\nif " << index.text(1).value() << "\n";
    return 0;
} catch (const std::exception &failed) {
    std::cerr << failed.what() << "\n";
    return 1;
}
