import { idTime } from '../../../core/ids.ts';
import { toFinalRecord, toPendingRecord } from '../request-record.ts';
import type { RequestRecord } from '../request-record.ts';
import type { EndRow, StartRow } from '../request-row.ts';

/** State of a request as streams send it; `end` is undefined while the call is in flight. */
export class RequestChange {
  readonly id: string;
  readonly start: StartRow;
  readonly end: EndRow | undefined;
  /** Texts by view: many streams send the same row. */
  readonly #texts = new Map<RequestView, string>();

  constructor(id: string, start: StartRow, end?: EndRow) {
    this.id = id;
    this.start = start;
    this.end = end;
  }

  /** Milliseconds since epoch at which it began by its id. */
  get at(): number {
    return idTime(this.id) ?? this.start[0];
  }

  /** Milliseconds since epoch; endless for a call in flight, and for one whose end is unknown. */
  get endedAt(): number {
    const ms = this.end?.[12];
    return typeof ms === 'number' ? this.start[0] + ms : Infinity;
  }

  /** JSON of the row, without content, which is read with the record. */
  text(view: RequestView): string {
    const known = this.#texts.get(view);
    if (known !== undefined) return known;
    const record = this.end
      ? toFinalRecord(this.id, this.end)
      : toPendingRecord(this.id, this.start);
    if (record.content) delete record.content;
    const text = JSON.stringify(view(record));
    this.#texts.set(view, text);
    return text;
  }
}

/** Record as those see it who follow a stream. */
export type RequestView = (record: RequestRecord) => object;
