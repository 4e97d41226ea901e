/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A small but real MPI application: -(u_xx + u_yy) = f on the unit square, u = 0 on its edge,
 * five-point stencil, conjugate gradients.
 *
 * The grid is cut into blocks on a Cartesian communicator. Each block is stored with one layer of
 * ghost cells, which exchange_halo fills from the four neighbours with nonblocking messages: rows
 * are contiguous, columns are a strided datatype. Each iteration costs one halo exchange and two
 * global sums.
 *
 * The answer is checked. The solution is a polynomial of third degree in x and in y, for which the
 * stencil is exact: what remains is the error of the iteration, and that is bounded by the
 * residual divided by the least eigenvalue of the operator, whichever number of iterations ran.
 *
 * --skew makes one rank work longer at each application of the operator: a deliberate imbalance
 * for a profiler to find.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* gcc 12 takes MPICH's MPI_STATUSES_IGNORE, which is the address 1, for an array that is too short.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

#define SKEW_FACTOR 4 /* how often the skewed rank computes its block, instead of once */
#define TAG_HALO 1

enum direction { NORTH, SOUTH, WEST, EAST, N_DIRECTIONS };

struct options {
    int n;            /* points along an edge: of the grid (strong) or of each block (weak) */
    bool weak;        /* false: the grid stays, true: the block of each rank stays */
    int iterations;   /* at most */
    double tolerance; /* of the residual, relative to the right-hand side */
    int skewed_rank;  /* or -1 */
    bool help;
};

struct grid {
    MPI_Comm comm;
    int rank, n_ranks;
    int dims[2], coords[2];      /* rows, columns of blocks */
    int neighbour[N_DIRECTIONS]; /* ranks, or MPI_PROC_NULL at the edge of the domain */
    int global_ny, global_nx;    /* interior points of the whole grid */
    int first_y, first_x;        /* of this block, counted from 0 */
    int ny, nx, stride;          /* interior points of this block, length of a stored row */
    double hy, hx;               /* spacing */
    int repeat;                  /* how often the operator is computed: SKEW_FACTOR or 1 */
    MPI_Datatype column;
};

struct result {
    int iterations;
    bool converged;
    double residual; /* relative to the right-hand side, from the final solution */
    double error;    /* to the analytic solution, root mean square */
    double bound;    /* which the error must not exceed */
    double seconds;
};

static double *at(const struct grid *g, double *field, int y, int x)
{
    return field + (size_t)(y + 1) * (size_t)g->stride + (size_t)(x + 1);
}

static const double *at_const(const struct grid *g, const double *field, int y, int x)
{
    return field + (size_t)(y + 1) * (size_t)g->stride + (size_t)(x + 1);
}

/* One factor of the solution and its second derivative. */
static double shape(double t, double c)
{
    return t * (1 - t) * (c + t);
}

static double shape_second(double t, double c)
{
    return 2 * (1 - c) - 6 * t;
}

static double solution(double x, double y)
{
    return shape(x, 1.0) * shape(y, 0.5);
}

static double right_hand_side(double x, double y)
{
    return -(shape_second(x, 1.0) * shape(y, 0.5) + shape(x, 1.0) * shape_second(y, 0.5));
}

static void sample(const struct grid *g, double *field, double (*function)(double, double))
{
    for (int y = 0; y < g->ny; y++)
        for (int x = 0; x < g->nx; x++)
            *at(g, field, y, x) =
                function((g->first_x + x + 1) * g->hx, (g->first_y + y + 1) * g->hy);
}

/* Points of a line of n that block i of `parts` owns, and the first of them. */
static int share(int n, int parts, int i, int *first_out)
{
    int size = n / parts, extra = n % parts;
    *first_out = i * size + (i < extra ? i : extra);
    return size + (i < extra);
}

static void make_grid(struct grid *g, const struct options *o)
{
    int periodic[2] = {0, 0};
    memset(g, 0, sizeof *g);
    MPI_Comm_size(MPI_COMM_WORLD, &g->n_ranks);
    MPI_Dims_create(g->n_ranks, 2, g->dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, g->dims, periodic, 0, &g->comm);
    MPI_Comm_rank(g->comm, &g->rank);
    MPI_Cart_coords(g->comm, g->rank, 2, g->coords);
    MPI_Cart_shift(g->comm, 0, 1, &g->neighbour[NORTH], &g->neighbour[SOUTH]);
    MPI_Cart_shift(g->comm, 1, 1, &g->neighbour[WEST], &g->neighbour[EAST]);

    g->global_ny = o->weak ? o->n * g->dims[0] : o->n;
    g->global_nx = o->weak ? o->n * g->dims[1] : o->n;
    g->ny = share(g->global_ny, g->dims[0], g->coords[0], &g->first_y);
    g->nx = share(g->global_nx, g->dims[1], g->coords[1], &g->first_x);
    g->stride = g->nx + 2;
    g->hy = 1.0 / (g->global_ny + 1);
    g->hx = 1.0 / (g->global_nx + 1);
    g->repeat = g->rank == o->skewed_rank ? SKEW_FACTOR : 1;
    MPI_Type_vector(g->ny, 1, g->stride, MPI_DOUBLE, &g->column);
    MPI_Type_commit(&g->column);
}

static void free_grid(struct grid *g)
{
    MPI_Type_free(&g->column);
    MPI_Comm_free(&g->comm);
}

static double *new_field(const struct grid *g)
{
    double *field = calloc((size_t)(g->ny + 2) * (size_t)g->stride, sizeof *field);
    if (!field) {
        fprintf(stderr, "poisson: rank %d: no memory for a block of %d x %d\n", g->rank, g->ny,
                g->nx);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return field;
}

/* Fills the ghost cells of `field` from the neighbours. At the edge of the domain they stay 0. */
static void exchange_halo(const struct grid *g, double *field)
{
    MPI_Request requests[2 * N_DIRECTIONS];
    MPI_Request *r = requests;
    const int *to = g->neighbour;
    int ny = g->ny, nx = g->nx;

    MPI_Irecv(at(g, field, -1, 0), nx, MPI_DOUBLE, to[NORTH], TAG_HALO, g->comm, r++);
    MPI_Irecv(at(g, field, ny, 0), nx, MPI_DOUBLE, to[SOUTH], TAG_HALO, g->comm, r++);
    MPI_Irecv(at(g, field, 0, -1), 1, g->column, to[WEST], TAG_HALO, g->comm, r++);
    MPI_Irecv(at(g, field, 0, nx), 1, g->column, to[EAST], TAG_HALO, g->comm, r++);
    MPI_Isend(at(g, field, 0, 0), nx, MPI_DOUBLE, to[NORTH], TAG_HALO, g->comm, r++);
    MPI_Isend(at(g, field, ny - 1, 0), nx, MPI_DOUBLE, to[SOUTH], TAG_HALO, g->comm, r++);
    MPI_Isend(at(g, field, 0, 0), 1, g->column, to[WEST], TAG_HALO, g->comm, r++);
    MPI_Isend(at(g, field, 0, nx - 1), 1, g->column, to[EAST], TAG_HALO, g->comm, r++);
    MPI_Waitall(2 * N_DIRECTIONS, requests, MPI_STATUSES_IGNORE);
}

/* The operator on one block. Its own function so that --skew can repeat it. */
__attribute__((noinline)) static void compute_block(const struct grid *g, const double *in,
                                                    double *out)
{
    double cy = 1 / (g->hy * g->hy), cx = 1 / (g->hx * g->hx);
    for (int y = 0; y < g->ny; y++) {
        const double *here = at_const(g, in, y, 0);
        double *to = at(g, out, y, 0);
        for (int x = 0; x < g->nx; x++)
            to[x] = cy * (2 * here[x] - here[x - g->stride] - here[x + g->stride]) +
                    cx * (2 * here[x] - here[x - 1] - here[x + 1]);
    }
}

/* out = A in, where A is minus the discrete Laplacian. */
static void apply_laplacian(const struct grid *g, double *in, double *out)
{
    exchange_halo(g, in);
    for (int i = 0; i < g->repeat; i++)
        compute_block(g, in, out);
}

static double dot(const struct grid *g, const double *a, const double *b)
{
    double sum = 0;
    for (int y = 0; y < g->ny; y++) {
        const double *row_a = at_const(g, a, y, 0), *row_b = at_const(g, b, y, 0);
        for (int x = 0; x < g->nx; x++)
            sum += row_a[x] * row_b[x];
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, g->comm);
    return sum;
}

/* y = a x + b y */
static void combine(const struct grid *g, double a, const double *x, double b, double *y)
{
    for (int row = 0; row < g->ny; row++) {
        const double *from = at_const(g, x, row, 0);
        double *to = at(g, y, row, 0);
        for (int i = 0; i < g->nx; i++)
            to[i] = a * from[i] + b * to[i];
    }
}

/* Conjugate gradients for A u = b from u = 0. Returns the iterations done. */
static int solve(const struct grid *g, const struct options *o, double *u, const double *b,
                 bool *converged_out)
{
    double *r = new_field(g), *p = new_field(g), *ap = new_field(g);
    double rr = dot(g, b, b);
    double goal = o->tolerance * o->tolerance * rr;
    int k = 0;

    combine(g, 1, b, 0, r);
    combine(g, 1, b, 0, p);
    while (k < o->iterations && rr > goal) {
        apply_laplacian(g, p, ap);
        double alpha = rr / dot(g, p, ap);
        combine(g, alpha, p, 1, u);
        combine(g, -alpha, ap, 1, r);
        double rr_new = dot(g, r, r);
        combine(g, 1, r, rr_new / rr, p);
        rr = rr_new;
        k++;
    }
    *converged_out = rr <= goal;
    free(r);
    free(p);
    free(ap);
    return k;
}

/* Compares u with the analytic solution. */
static void verify(const struct grid *g, double *u, const double *b, struct result *result)
{
    double *r = new_field(g), *e = new_field(g);
    double sy = sin(M_PI * g->hy / 2) / g->hy, sx = sin(M_PI * g->hx / 2) / g->hx;
    double least_eigenvalue = 4 * (sy * sy + sx * sx);
    double n_points = (double)g->global_ny * g->global_nx;

    apply_laplacian(g, u, r);
    combine(g, 1, b, -1, r);
    sample(g, e, solution);
    combine(g, -1, u, 1, e);
    double norm_r = sqrt(dot(g, r, r) / n_points), norm_b = sqrt(dot(g, b, b) / n_points);
    result->residual = norm_r / norm_b;
    result->error = sqrt(dot(g, e, e) / n_points);
    /* The second term: rounding in A u, whose entries are differences of numbers of size u / h^2.
     */
    result->bound = 1.001 * norm_r / least_eigenvalue + 1e-15 * n_points;
    free(r);
    free(e);
}

static struct result run(const struct grid *g, const struct options *o)
{
    struct result result;
    double *u = new_field(g), *b = new_field(g);
    sample(g, b, right_hand_side);
    double start = MPI_Wtime();
    result.iterations = solve(g, o, u, b, &result.converged);
    result.seconds = MPI_Wtime() - start;
    verify(g, u, b, &result);
    free(u);
    free(b);
    return result;
}

static void usage(FILE *out)
{
    fprintf(out,
            "usage: mpirun -n RANKS poisson [options]\n"
            "Solves a Poisson equation on the unit square by conjugate gradients.\n"
            "  --n N            points along an edge of the grid (default 512)\n"
            "  --scale strong   the grid has N x N points (default)\n"
            "  --scale weak     the block of each rank has N x N points\n"
            "  --iterations K   at most K iterations (default 10000)\n"
            "  --tolerance T    of the relative residual (default 1e-8; 0: do all iterations)\n"
            "  --skew R         rank R computes each block operation %d times instead of once\n"
            "  --help           this text\n"
            "Exit status: 0 the answer is right, 1 it is wrong, 2 wrong options.\n",
            SKEW_FACTOR);
}

static bool parse_int(const char *text, int least, int *out)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || *end || end == text || value < least || value > 1000000000)
        return false;
    *out = (int)value;
    return true;
}

static bool parse_tolerance(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return !*end && end != text && *out >= 0 && *out < 1;
}

static bool parse_scale(const char *text, bool *weak_out)
{
    *weak_out = !strcmp(text, "weak");
    return *weak_out || !strcmp(text, "strong");
}

/* False with a message from rank 0. */
static bool parse_options(int argc, char **argv, bool loud, struct options *o)
{
    static const struct option table[] = {
        {"n", required_argument, NULL, 'n'},
        {"scale", required_argument, NULL, 's'},
        {"iterations", required_argument, NULL, 'i'},
        {"tolerance", required_argument, NULL, 't'},
        {"skew", required_argument, NULL, 'k'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int c;
    *o = (struct options){.n = 512, .iterations = 10000, .tolerance = 1e-8, .skewed_rank = -1};
    opterr = loud;
    while ((c = getopt_long_only(argc, argv, "", table, NULL)) != -1) {
        bool good = (c == 'n' && parse_int(optarg, 1, &o->n)) ||
                    (c == 's' && parse_scale(optarg, &o->weak)) ||
                    (c == 'i' && parse_int(optarg, 1, &o->iterations)) ||
                    (c == 't' && parse_tolerance(optarg, &o->tolerance)) ||
                    (c == 'k' && parse_int(optarg, 0, &o->skewed_rank)) ||
                    (c == 'h' && (o->help = true));
        if (!good) {
            if (loud && c != '?')
                fprintf(stderr, "poisson: bad value '%s'\n", optarg);
            return false;
        }
    }
    if (optind < argc && loud)
        fprintf(stderr, "poisson: unexpected argument '%s'\n", argv[optind]);
    return optind == argc;
}

static void print_result(const struct grid *g, const struct options *o, const struct result *r)
{
    printf("poisson: %d x %d points on %d x %d ranks (%s scaling)\n", g->global_ny, g->global_nx,
           g->dims[0], g->dims[1], o->weak ? "weak" : "strong");
    if (o->skewed_rank >= 0)
        printf("skew: rank %d computes %d times as much\n", o->skewed_rank, SKEW_FACTOR);
    printf("iterations: %d%s\n", r->iterations, r->converged ? "" : " (not converged)");
    printf("residual: %.3e relative\n", r->residual);
    printf("error: %.3e, at most %.3e allowed\n", r->error, r->bound);
    printf("time: %.3f s\n", r->seconds);
}

/* Solves and judges. Returns the exit status, the same on all ranks. */
static int solve_and_check(const struct options *o)
{
    struct grid g;
    int status;
    make_grid(&g, o);
    if (g.dims[0] > g.global_ny || g.dims[1] > g.global_nx || o->skewed_rank >= g.n_ranks) {
        if (g.rank == 0)
            fprintf(stderr, "poisson: %s\n",
                    o->skewed_rank >= g.n_ranks ? "--skew names a rank that does not exist"
                                                : "fewer points than ranks along an edge");
        status = 2;
    } else {
        struct result r = run(&g, o);
        bool right = r.error <= r.bound && (r.converged || o->tolerance == 0);
        if (g.rank == 0) {
            print_result(&g, o, &r);
            printf("%s\n", right ? "correct" : "WRONG");
        }
        status = right ? 0 : 1;
    }
    free_grid(&g);
    return status;
}

int main(int argc, char **argv)
{
    struct options o;
    int rank, status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!parse_options(argc, argv, rank == 0, &o)) {
        if (rank == 0)
            usage(stderr);
        status = 2;
    } else if (o.help) {
        if (rank == 0)
            usage(stdout);
        status = 0;
    } else {
        status = solve_and_check(&o);
    }
    MPI_Finalize();
    return status;
}
