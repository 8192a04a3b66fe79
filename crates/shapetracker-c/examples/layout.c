/* A layout through the C interface: movement, the one view or the evidence against it, and the index as code and as nodes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shapetracker.h"

/* Ends the program with the sentence where something could not be done. */
static void must(st_error *error) {
    if (error == NULL) return;
    fprintf(stderr, "%s: %s\n", st_error_operation(error), st_error_sentence(error));
    st_error_free(error);
    exit(1);
}

int main(void) {
    const int64_t shape[] = {4, 6}, axes[] = {1, 0}, flat[] = {24};
    st_tracker *base, *turned, *flattened;
    must(st_tracker_new(shape, 2, &base));
    must(st_tracker_permute(base, axes, 2, &turned));
    must(st_tracker_reshape(turned, flat, 1, &flattened));

    st_view view;
    must(st_tracker_view(turned, 0, &view));
    printf("strides %" PRId64 " and %" PRId64 "\n", view.strides[0], view.strides[1]);

    st_answer *answer;
    st_witness witness;
    must(st_tracker_single_view(flattened, &answer));
    printf("%s: %s\n", st_answer_kind(answer), st_answer_sentence(answer));
    if (!st_answer_witness(answer, &witness) || !witness.is_uneven_step) return 1;
    /* The evidence is checked by asking for the address of an element. */
    int64_t address;
    bool has_address;
    must(st_tracker_address(flattened, witness.indices[0], 1, &has_address, &address));
    if (!has_address || address != witness.before[0]) return 1;
    st_answer_free(answer);

    st_expression *index;
    char *code;
    must(st_tracker_index(flattened, &index));
    must(st_expression_code(index, "c", &code));
    printf("%s", code);
    for (size_t number = 0; number < st_expression_nodes(index); number++) {
        st_node node;
        must(st_expression_node(index, number, &node));
        if (node.op == ST_OP_VARIABLE) printf("variable %s in 0..%" PRId64 "\n", node.name, node.greatest + 1);
    }
    st_text_free(code);
    st_expression_free(index);

    st_error *error = st_tracker_reshape(base, flat, 0, &turned);
    if (error == NULL || strcmp(st_error_kind(error), "size_mismatch") != 0) return 1;
    printf("%s: %s\n", st_error_operation(error), st_error_sentence(error));
    st_error_free(error);
    st_tracker_free(flattened);
    st_tracker_free(turned);
    st_tracker_free(base);
    return 0;
}
