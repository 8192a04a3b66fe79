// A padded convolution lowered to loops: the compiler that this is prints a program in C, which runs the loops beside a direct
// convolution and ends with 0 where both agree. The sizes of the image are names, which become arguments of the kernel.
#include <iostream>

#include "shapetracker.hpp"

int main() {
    using namespace shapetracker;
    auto read = nest::read(
        "x = (3, H, W).pad((0, 0), (1, 1), (1, 1)); k = (4, 3, 3, 3); y = (4, H, W); "
        "y[o, h, w] += x[c, h + i, w + j] * k[o, c, i, j]",
        "H=1..65, W=1..65");
    if (!read) {
        std::cerr << read.error().text() << "\n";
        return 1;
    }
    nest &loops = *read;
    // Where there is no element, nothing is added: the loops over the window become shorter at the edges.
    if (auto why = loops.split("o", {"2", "2"})) {
        std::cerr << why->text() << "\n";
        return 1;
    }
    auto code = loops.code("c");
    if (!code) {
        std::cerr << code.error().text() << "\n";
        return 1;
    }
    std::cout << "#include <stdint.h>\n"
                 "#include <stdio.h>\n"
                 "static void kernel(int H, int W, const int *x, const int *k, int *y) {\n"
              << *code
              << "}\n"
                 "static void direct(int H, int W, const int *x, const int *k, int *y) {\n"
                 "    for (int o = 0; o < 4; o++) for (int h = 0; h < H; h++) for (int w = 0; w < W; w++)\n"
                 "        for (int c = 0; c < 3; c++) for (int i = -1; i < 2; i++) for (int j = -1; j < 2; j++)\n"
                 "            if (h + i >= 0 && h + i < H && w + j >= 0 && w + j < W)\n"
                 "                y[(o * H + h) * W + w] +=\n"
                 "                    x[(c * H + h + i) * W + w + j] * k[((o * 3 + c) * 3 + i + 1) * 3 + j + 1];\n"
                 "}\n"
                 "int main(void) {\n"
                 "    static int x[3 * 64 * 64], k[4 * 3 * 3 * 3], y[4 * 64 * 64], wanted[4 * 64 * 64];\n"
                 "    for (int n = 0; n < 3 * 64 * 64; n++) x[n] = n * 7 % 23 - 11;\n"
                 "    for (int n = 0; n < 4 * 3 * 3 * 3; n++) k[n] = n * 5 % 13 - 6;\n"
                 "    const int sizes[][2] = {{1, 1}, {1, 5}, {2, 3}, {8, 8}, {13, 64}, {64, 64}};\n"
                 "    for (int at = 0; at < 6; at++) {\n"
                 "        int H = sizes[at][0], W = sizes[at][1];\n"
                 "        for (int n = 0; n < 4 * H * W; n++) y[n] = wanted[n] = 0;\n"
                 "        kernel(H, W, x, k, y);\n"
                 "        direct(H, W, x, k, wanted);\n"
                 "        for (int n = 0; n < 4 * H * W; n++) if (y[n] != wanted[n]) {\n"
                 "            printf(\"%d by %d: element %d is %d, and not %d\\n\", H, W, n, y[n], wanted[n]);\n"
                 "            return 1;\n"
                 "        }\n"
                 "    }\n"
                 "    printf(\"the loops are the convolution\\n\");\n"
                 "    return 0;\n"
                 "}\n";
    return 0;
}
