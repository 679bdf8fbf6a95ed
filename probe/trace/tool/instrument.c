/* SPDX-License-Identifier: GPL-2.0-or-later */
/* instrument - see instrument.h
 *
 * Two thirds and more of all references are to the line that was used last in its set of the L1,
 * and change nothing there. So each load and store gets the comparison with the table of recent
 * lines in place, and calls the simulator only where that does not answer:
 *
 *     if (address - recent[(address >> shift) & mask] > line_bytes - size)    (unsigned)
 *         count_reference(address, size);
 *
 * which also calls for those that go across the end of a line. Instructions and references are
 * counted once for each stretch without a way out: two additions in memory.
 *
 * A load and a store of one instruction at one address are one reference (`add %rax, (%rbx)`), but
 * where a memory is simulated behind the caches: there a store is told as one, and nothing is
 * answered by a table. */
#include "probe/trace/tool/instrument.h"

#include "probe/trace/tool/count.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"

#if defined(VG_BIGENDIAN)
#define ENDNESS Iend_BE
#else
#define ENDNESS Iend_LE
#endif

/* A superblock while its code is made. */
struct block {
    IRSB *out;
    UInt instructions, references; /* not counted yet */
    IRExpr *last_load;             /* address of the instruction's last load; NULL: none */
    Int last_size;
    const struct cachesim_recent *recent;
};

/* ---- making code ---- */

static IRExpr *number(ULong value)
{
    return IRExpr_Const(IRConst_U64(value));
}

static IRExpr *assign(struct block *block, IRType type, IRExpr *value)
{
    IRTemp temp = newIRTemp(block->out->tyenv, type);

    addStmtToIRSB(block->out, IRStmt_WrTmp(temp, value));
    return IRExpr_RdTmp(temp);
}

static IRExpr *compute(struct block *block, IROp op, IRExpr *a, IRExpr *b)
{
    return assign(block, Ity_I64, IRExpr_Binop(op, a, b));
}

static void call(struct block *block, const HChar *name, void *function, IRExpr **args,
                 IRExpr *guard)
{
    IRDirty *dirty = unsafeIRDirty_0_N(0, name, VG_(fnptr_to_fnentry)(function), args);

    if (guard)
        dirty->guard = guard;
    addStmtToIRSB(block->out, IRStmt_Dirty(dirty));
}

/* Makes code for *at += value. Returns the sum. */
static IRExpr *add(struct block *block, void *at, Long value)
{
    IRExpr *address = number((HWord)at);
    IRExpr *before = assign(block, Ity_I64, IRExpr_Load(ENDNESS, Ity_I64, address));
    IRExpr *sum = compute(block, Iop_Add64, before, number((ULong)value));

    addStmtToIRSB(block->out, IRStmt_Store(ENDNESS, address, sum));
    return sum;
}

/* Makes code that counts what came since the last time; needed before each way out of the
 * superblock. */
static void count(struct block *block)
{
    IRExpr *left;

    if (block->instructions)
        add(block, &count_instructions, block->instructions);
    if (block->references) {
        left = add(block, &count_left, -(Long)block->references);
        call(block, "count_batch", count_batch, mkIRExprVec_0(),
             assign(block, Ity_I1, IRExpr_Binop(Iop_CmpLT64S, left, number(0))));
    }
    block->instructions = block->references = 0;
}

/* ---- references ---- */

/* Returns the condition that the table of recent lines does not answer the reference, or NULL where
 * there is no table. */
static IRExpr *unanswered(struct block *block, IRExpr *address, Int size)
{
    const struct cachesim_recent *recent = block->recent;
    IRExpr *at, *line, *offset;

    if (!recent || (1 << recent->line_shift) < size)
        return NULL;
    at = compute(block, Iop_Shr64, address, IRExpr_Const(IRConst_U8(recent->line_shift - 3)));
    at = compute(block, Iop_And64, at, number(recent->mask << 3));
    at = compute(block, Iop_Add64, at, number((HWord)recent->address));
    line = assign(block, Ity_I64, IRExpr_Load(ENDNESS, Ity_I64, at));
    offset = compute(block, Iop_Sub64, address, line);
    return assign(block, Ity_I1,
                  IRExpr_Binop(Iop_CmpLT64U, number((1ULL << recent->line_shift) - size), offset));
}

static void refer(struct block *block, IRExpr *address, Int size)
{
    block->references++;
    call(block, "count_reference", count_reference, mkIRExprVec_2(address, number(size)),
         unanswered(block, address, size));
}

static void load(struct block *block, IRExpr *address, Int size)
{
    refer(block, address, size);
    block->last_load = address;
    block->last_size = size;
}

static void store(struct block *block, IRExpr *address, Int size)
{
    Bool modifies =
        block->last_load && block->last_size == size && eqIRAtom(block->last_load, address);

    block->last_load = NULL;
    if (count_stores())
        refer(block, address, size + COUNT_STORE);
    else if (!modifies)
        refer(block, address, size);
}

/* Handles a reference that is made only where the guard holds; it is not merged with another. */
static void guarded(struct block *block, IRExpr *address, Int size, IRExpr *guard)
{
    block->last_load = NULL;
    call(block, "count_guarded_reference", count_guarded_reference,
         mkIRExprVec_2(address, number(size)), guard);
}

static Int size_of(const struct block *block, const IRExpr *data)
{
    return sizeofIRType(typeOfIRExpr(block->out->tyenv, data));
}

static void load_guarded(struct block *block, const IRLoadG *details)
{
    IRType result, loaded;

    typeOfIRLoadGOp(details->cvt, &result, &loaded);
    guarded(block, details->addr, sizeofIRType(loaded), details->guard);
}

static void call_refers(struct block *block, const IRDirty *details)
{
    if (details->mFx == Ifx_None)
        return;
    if (details->mFx == Ifx_Read || details->mFx == Ifx_Modify)
        load(block, details->mAddr, details->mSize);
    if (details->mFx == Ifx_Write || details->mFx == Ifx_Modify)
        store(block, details->mAddr, details->mSize);
}

static void compare_and_swap(struct block *block, const IRCAS *details)
{
    Int size = size_of(block, details->dataLo) * (details->dataHi ? 2 : 1);

    load(block, details->addr, size);
    store(block, details->addr, size);
}

/* Takes a load-linked as a load, a store-conditional as a store. */
static void linked(struct block *block, const IRStmt *statement)
{
    if (statement->Ist.LLSC.storedata)
        store(block, statement->Ist.LLSC.addr, size_of(block, statement->Ist.LLSC.storedata));
    else
        load(block, statement->Ist.LLSC.addr,
             sizeofIRType(typeOfIRTemp(block->out->tyenv, statement->Ist.LLSC.result)));
}

/* ---- superblocks ---- */

/* Adds the code that must run before the statement. */
static void before(struct block *block, const IRStmt *statement)
{
    const IRExpr *data;

    switch (statement->tag) {
    case Ist_IMark:
        block->instructions++;
        block->last_load = NULL;
        break;
    case Ist_WrTmp:
        data = statement->Ist.WrTmp.data;
        if (data->tag == Iex_Load)
            load(block, data->Iex.Load.addr, sizeofIRType(data->Iex.Load.ty));
        break;
    case Ist_Store:
        store(block, statement->Ist.Store.addr, size_of(block, statement->Ist.Store.data));
        break;
    case Ist_LoadG:
        load_guarded(block, statement->Ist.LoadG.details);
        break;
    case Ist_StoreG:
        guarded(block, statement->Ist.StoreG.details->addr,
                size_of(block, statement->Ist.StoreG.details->data) +
                    (count_stores() ? COUNT_STORE : 0),
                statement->Ist.StoreG.details->guard);
        break;
    case Ist_Dirty:
        call_refers(block, statement->Ist.Dirty.details);
        break;
    case Ist_CAS:
        compare_and_swap(block, statement->Ist.CAS.details);
        break;
    case Ist_LLSC:
        linked(block, statement);
        break;
    case Ist_Exit:
        count(block);
        break;
    default:
        break;
    }
}

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
                 const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
                 IRType host_word)
{
    struct block block = {.out = deepCopyIRSBExceptStmts(in), .recent = count_recent()};
    Int i = 0;

    (void)closure, (void)layout, (void)extents, (void)host;
    tl_assert(guest_word == Ity_I64 && host_word == Ity_I64);
    while (i < in->stmts_used && in->stmts[i]->tag != Ist_IMark)
        addStmtToIRSB(block.out, in->stmts[i++]); /* what the translation itself needs */
    for (; i < in->stmts_used; i++) {
        before(&block, in->stmts[i]);
        addStmtToIRSB(block.out, in->stmts[i]);
    }
    count(&block);
    return block.out;
}
