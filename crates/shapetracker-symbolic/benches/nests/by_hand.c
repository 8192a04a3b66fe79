/* The kernels of the benchmark of instructions as plain loops, written by hand: in the same order of the loops, with the same
 * lines for each element, and with everything hoisted that a careful programmer hoists. */

void matmul_by_hand(const float *restrict a, const float *restrict b, const float *restrict bias,
                    const float *restrict old, float *restrict out) {
    for (int i = 0; i < 50; ++i) {
        const float *row = a + i * 24;
        for (int j = 0; j < 40; ++j) {
            const float *column = b + j * 24;
            float sum = 0;
            for (int k = 0; k < 24; ++k) sum += row[k] * column[k];
            out[i * 40 + j] = sum + bias[j] + old[i * 40 + j];
        }
    }
}

void convolution_by_hand(const float *restrict image, const float *restrict filters, const float *restrict bias,
                         const float *restrict old, float *restrict out) {
    for (int n = 0; n < 2; ++n) {
        for (int f = 0; f < 4; ++f) {
            for (int y = 0; y < 20; ++y) {
                const int top = y == 0 ? 1 : 0, bottom = y == 19 ? 2 : 3;
                for (int x = 0; x < 18; ++x) {
                    const int left = x == 0 ? 1 : 0, right = x == 17 ? 2 : 3;
                    float sum = 0;
                    for (int c = 0; c < 3; ++c) {
                        for (int dy = top; dy < bottom; ++dy) {
                            const float *row = image + ((n * 3 + c) * 20 + y + dy - 1) * 18 + x - 1;
                            const float *filter = filters + ((f * 3 + c) * 3 + dy) * 3;
                            for (int dx = left; dx < right; ++dx) sum += row[dx] * filter[dx];
                        }
                    }
                    const int at = ((n * 4 + f) * 20 + y) * 18 + x;
                    out[at] = sum + bias[f] + old[at];
                }
            }
        }
    }
}

void attention_by_hand(const float *restrict q, const float *restrict k, const float *restrict slope,
                       const float *restrict old, float *restrict out) {
    for (int h = 0; h < 2; ++h) {
        for (int i = 0; i < 60; ++i) {
            const float *query = q + i * 16 + h * 8;
            const int row = (h * 60 + i) * 60;
            for (int j = 0; j < i + 1; ++j) {
                const float *key = k + j * 16 + h * 8;
                float sum = 0;
                for (int d = 0; d < 8; ++d) sum += query[d] * key[d];
                out[row + j] = sum + slope[h] + old[row + j];
            }
            for (int j = i + 1; j < 60; ++j) out[row + j] = -INFINITY;
        }
    }
}

void im2col_by_hand(const float *restrict image, const float *restrict filters, const float *restrict bias,
                    const float *restrict old, float *restrict out) {
    for (int n = 0; n < 2; ++n) {
        for (int y = 0; y < 10; ++y) {
            const int top = y == 0 ? 1 : 0, bottom = y == 9 ? 2 : 3;
            for (int x = 0; x < 8; ++x) {
                const int left = x == 0 ? 1 : 0, right = x == 7 ? 2 : 3;
                for (int f = 0; f < 4; ++f) {
                    float sum = 0;
                    for (int c = 0; c < 3; ++c) {
                        for (int dy = top; dy < bottom; ++dy) {
                            const float *row = image + ((n * 3 + c) * 10 + y + dy - 1) * 8 + x - 1;
                            const float *filter = filters + ((f * 3 + c) * 3 + dy) * 3;
                            for (int dx = left; dx < right; ++dx) sum += row[dx] * filter[dx];
                        }
                    }
                    const int at = (n * 4 + f) * 80 + y * 8 + x;
                    out[at] = sum + bias[f] + old[at];
                }
            }
        }
    }
}

void im2col_named_by_hand(const float *restrict image, const float *restrict filters, const float *restrict bias,
                          const float *restrict old, float *restrict out, int N) {
    for (int n = 0; n < N; ++n) {
        for (int y = 0; y < 10; ++y) {
            const int top = y == 0 ? 1 : 0, bottom = y == 9 ? 2 : 3;
            for (int x = 0; x < 8; ++x) {
                const int left = x == 0 ? 1 : 0, right = x == 7 ? 2 : 3;
                for (int f = 0; f < 4; ++f) {
                    float sum = 0;
                    for (int c = 0; c < 3; ++c) {
                        for (int dy = top; dy < bottom; ++dy) {
                            const float *row = image + ((n * 3 + c) * 10 + y + dy - 1) * 8 + x - 1;
                            const float *filter = filters + ((f * 3 + c) * 3 + dy) * 3;
                            for (int dx = left; dx < right; ++dx) sum += row[dx] * filter[dx];
                        }
                    }
                    const int at = (n * 4 + f) * 80 + y * 8 + x;
                    out[at] = sum + bias[f] + old[at];
                }
            }
        }
    }
}

void transposed_by_hand(const float *restrict x, float *restrict out) {
    for (int column = 0; column < 80; ++column) {
        for (int row = 0; row < 96; ++row) out[column * 96 + row] = x[row * 80 + column];
    }
}
