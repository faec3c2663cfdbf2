/** Instants of ids, in milliseconds since epoch, between which a look reads; `to` is exclusive. */
export interface LookSpan {
  readonly from: number;
  readonly to: number;
}

export interface LookTimes {
  readonly now: number;
  /** Instant of the look before; undefined where changes since another one may be missing. */
  readonly lookedAt: number | undefined;
  /** Age in milliseconds at which an id may be new to all. */
  readonly deepMs: number;
}

/** Age up to which each look reads again: a call that takes no longer has ended by then. */
export const NEAR_MS = 3_000;

/**
 * Spans that a look has to read, the newest first. The body of a call may come late, and so its id: each
 * span of ids is read again at twice the age, and once more when nothing can come any more. So a look
 * reads a few seconds of records, however long a body may take.
 */
export function lookSpans({ now, lookedAt, deepMs }: LookTimes): LookSpan[] {
  if (lookedAt === undefined) return [{ from: now - deepMs, to: Infinity }];
  const gap = now - lookedAt;
  if (gap > NEAR_MS) return [{ from: lookedAt - deepMs, to: Infinity }];
  const spans = [{ from: lookedAt - NEAR_MS, to: Infinity }];
  for (let age = 2 * NEAR_MS; age < deepMs; age *= 2)
    spans.push({ from: lookedAt - age, to: now - age });
  return [...spans, { from: lookedAt - deepMs, to: now - deepMs }];
}
