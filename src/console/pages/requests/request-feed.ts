import { batch, computed, signal } from '@preact/signals';
import type { Api } from '../../api/call.ts';
import type { Page, RequestRow } from '../../api/views.ts';
import { mergeRows } from '../../logic/merge-rows.ts';
import { matches, parseFilter, toServerQuery } from '../../logic/request-filter.ts';
import { SPANS } from '../../logic/requests-view.ts';
import { toApiError } from '../../parts/load.ts';
import type { HubMessage, LinkState } from '../../stream/messages.ts';
import type { Streams } from '../../stream/tab.ts';

/** Rows that the stream begins with, and that a look at older ones brings. */
const FIRST_ROWS = 200;
/** Rows of a page of executions, which has an end of its own. */
const MOST_EXECUTIONS = 100;
const MINUTE = 60_000;

export interface FeedDeps {
  readonly api: Pick<Api, 'json'>;
  readonly streams: Streams;
  readonly isAdmin: boolean;
  readonly now: number;
  readonly onState: (state: LinkState) => void;
}

type Rows = readonly RequestRow[];

/** The requests that a filter leaves, live. */
export class RequestFeed {
  /** Flag that makes new rows wait. */
  isReading = false;
  readonly isLoaded = signal(false);
  readonly hasOlder = signal(true);
  readonly problem = signal('');
  /** Rows that are shown, newest first. */
  readonly rows = computed(() => this.#matching(this.#known.value));
  /** Number of rows that wait until the reader wants them. */
  readonly waiting = computed(() => this.#matching(this.#held.value).length);
  readonly #deps: FeedDeps;
  readonly #path: '/admin/v1/requests' | '/v1/account/executions';
  readonly #terms: ReturnType<typeof parseFilter>;
  readonly #query: Record<string, string>;
  readonly #known = signal<Rows>([]);
  readonly #held = signal<Rows>([]);
  #cursor: string | undefined;
  /** Number of times that the known rows were replaced. */
  #turn = 0;
  #isBusy = false;
  /** True from a reset until the rows that replace the former ones come. */
  #isStale = false;

  constructor(filter: string, last: string, deps: FeedDeps) {
    this.#deps = deps;
    this.#path = deps.isAdmin ? '/admin/v1/requests' : '/v1/account/executions';
    this.#terms = parseFilter(filter);
    this.#query = { ...toServerQuery(this.#terms), ...startOf(last, deps.now) };
  }

  /** Begins to listen; returns what ends it. */
  open(): () => void {
    return this.#deps.streams.subscribe({
      path: `${this.#path}/events`,
      query: { ...this.#query, limit: String(FIRST_ROWS) },
      onMessage: (message) => this.#take(message),
    });
  }

  /** Shows the rows that wait. */
  catchUp(): void {
    if (this.#held.value.length === 0) return;
    batch(() => {
      this.#known.value = mergeRows(this.#known.value, this.#held.value);
      this.#held.value = [];
    });
  }

  /** Loads the rows before the oldest. */
  async loadOlder(): Promise<void> {
    const oldest = this.#known.value.at(-1);
    if (this.#isBusy || !this.hasOlder.value || !oldest) return;
    this.#isBusy = true;
    const turn = this.#turn;
    try {
      const before = new Date(Date.parse(oldest.created_at) + 1).toISOString();
      const paged = this.#cursor === undefined ? { to: before } : { page: this.#cursor };
      const limit = this.#deps.isAdmin ? FIRST_ROWS : MOST_EXECUTIONS;
      const query = { ...this.#query, ...paged, limit };
      const page = await this.#deps.api.json<Page<RequestRow>>(this.#path, { query });
      // Rows from before others that are gone would come after a gap.
      if (turn !== this.#turn) return;
      this.#known.value = mergeRows(this.#known.value, page.data);
      this.#cursor = page.next_page ?? undefined;
      this.hasOlder.value = page.next_page !== null;
    } catch (thrown) {
      if (turn !== this.#turn) return;
      this.problem.value = toApiError(thrown).message;
      this.hasOlder.value = false;
    } finally {
      this.#isBusy = false;
      if (turn !== this.#turn) await this.loadOlder();
    }
  }

  #take(message: HubMessage): void {
    if (message.type === 'state') {
      this.#deps.onState(message.state);
      this.problem.value = message.state === 'cut' ? (message.message ?? '') : '';
    } else if (message.type === 'reset') this.#isStale = true;
    else batch(() => this.#put(message.data as Rows, message.place.seq === 1));
  }

  #put(told: Rows, isFirst: boolean): void {
    if (this.#isStale) {
      this.#turn++;
      this.#known.value = this.#held.value = [];
      this.#cursor = undefined;
      this.hasOlder.value = true;
    }
    // The stream begins with the newest rows: fewer than were asked for are all that there are.
    if (isFirst && told.length < FIRST_ROWS) this.hasOlder.value = false;
    const { from = '' } = this.#query;
    const fresh = told.filter(({ created_at: at }) => at >= from);
    if (!this.isReading || !this.isLoaded.value || this.#isStale)
      this.#known.value = mergeRows(this.#known.value, fresh);
    else {
      const ids = new Set(this.#known.value.map(({ id }) => id));
      const isKnown = ({ id }: RequestRow): boolean => ids.has(id);
      this.#known.value = mergeRows(this.#known.value, fresh.filter(isKnown));
      const others = fresh.filter((row) => !isKnown(row));
      this.#held.value = mergeRows(this.#held.value, others);
    }
    this.#isStale = false;
    this.isLoaded.value = true;
  }

  #matching(rows: Rows): Rows {
    return this.#terms.length === 0 ? rows : rows.filter((row) => matches(row, this.#terms));
  }
}

/** Beginning of a span of time, by the minute, so that tabs that show the same ask for the same. */
function startOf(last: string, now: number): { from?: string } {
  const ms = SPANS.find(([name]) => name === last)?.[2] ?? 0;
  if (ms === 0) return {};
  return { from: new Date(Math.floor((now - ms) / MINUTE) * MINUTE).toISOString() };
}
