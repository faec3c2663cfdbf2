import type { ActualState, View } from '../actual/actual.ts';
import type { ApplyOptions, ApplyReport } from './apply-options.ts';
import type { DesiredObject } from '../objects/desired.ts';
import { dependenciesOf, objectKey } from '../objects/object-refs.ts';
import { ObjectWriter } from './object-writer.ts';
import type { PlanAction } from '../plan/plan-action.ts';
import { isIssued } from '../plan/plan-object.ts';
import { staleness } from '../plan/stale.ts';
import { StalePlanError } from '../plan/stale-plan-error.ts';
import { Renames } from './renames.ts';
import { type Made, yieldTwins } from '../actual/twins.ts';
import { WriteOrder } from '../plan/write-order.ts';

type Outcome = ApplyReport['applied'][number];

/** One apply: writes in parallel where possible, and no object that depends on a failed one. */
export class ApplyRun {
  readonly #report = {
    applied: [] as Outcome[],
    failed: [] as Outcome[],
    blocked: [] as Outcome[],
    notRun: [] as Outcome[],
    issued: [] as { identity: string; value: string }[],
  };
  readonly #options: ApplyOptions;
  readonly #declared: ReadonlyMap<string, DesiredObject>;
  readonly #writer: ObjectWriter;
  readonly #renames: Renames;
  /** Objects that are not as declared: failed, blocked or not run. */
  readonly #unready = new Set<string>();
  readonly #made: Made[] = [];
  /** False until the first write has ended without a sign of a concurrent apply. */
  #isAlone = false;

  constructor(options: ApplyOptions, actual: ActualState) {
    this.#options = options;
    this.#writer = new ObjectWriter(options, actual);
    this.#renames = new Renames(options.plan.actions, actual);
    this.#declared = new Map(
      options.desired.objects.map((object) => [objectKey(object.kind, object.identity), object]),
    );
  }

  /** State of the objects by now, as far as this apply knows. */
  get left(): ActualState {
    return this.#writer.actual;
  }

  async execute(): Promise<ApplyReport> {
    const pending = this.#options.plan.actions.filter(({ action }) => action !== 'none');
    await this.#writeAll(pending.filter((planned) => this.#objectOf(planned) !== undefined));
    // A twin that stays shows in the next plan, so a failing look takes nothing from the report.
    const twins = await this.#twins(this.#made).catch(() => []);
    for (const { object } of twins) this.#takeBack(object);
    // Dependents first, one after the other.
    for (const planned of pending) {
      if (this.#objectOf(planned) === undefined) await this.#remove(planned);
    }
    this.#sortReport(pending);
    return this.#report;
  }

  /** Sorts the report as the plan, since the order in which writes under way end is chance. */
  #sortReport(planned: readonly PlanAction[]): void {
    const places = new Map(planned.map((one, place) => [keyOf(one), place]));
    const placeOf = (key: string) => places.get(key) ?? 0;
    const { issued, ...outcomes } = this.#report;
    for (const list of Object.values(outcomes)) {
      list.sort(
        (a, b) => placeOf(objectKey(a.kind, a.identity)) - placeOf(objectKey(b.kind, b.identity)),
      );
    }
    const placeOfKey = ({ identity }: { identity: string }) => placeOf(objectKey('key', identity));
    issued.sort((a, b) => placeOfKey(a) - placeOfKey(b));
  }

  /** Begins what waits for nothing, in the order of the plan, as long as there is room. */
  async #writeAll(actions: readonly PlanAction[]): Promise<void> {
    const { parallelism = 1, isStrict = false } = this.#options;
    const needsOf = (planned: PlanAction) => [
      ...this.#needs(planned),
      ...this.#renames.aheadOf(planned),
    ];
    const order = new WriteOrder(actions, { keyOf, needsOf, isStrict });
    const running = new Set<Promise<void>>();
    for (;;) {
      const room = this.#isAlone ? parallelism : 1;
      const planned = running.size < room ? order.next() : undefined;
      if (planned) {
        const run = this.#settle(planned).finally(() => {
          running.delete(run);
          order.done(planned);
        });
        running.add(run);
      } else if (running.size > 0) await Promise.race(running);
      else return;
    }
  }

  async #settle(planned: PlanAction): Promise<void> {
    const missing = this.#needs(planned).find((name) => this.#unready.has(name));
    if (this.#options.signal?.aborted === true) this.#leaveOut(planned);
    else if (missing !== undefined) this.#end('blocked', planned, `waits for ${missing}`);
    else await this.#write(planned, this.#objectOf(planned));
  }

  /** Undefined when it is no longer declared. */
  #objectOf(planned: PlanAction): DesiredObject | undefined {
    return this.#declared.get(keyOf(planned));
  }

  #needs(planned: PlanAction): string[] {
    const object = this.#objectOf(planned);
    return object ? dependenciesOf(object) : [];
  }

  async #remove(planned: PlanAction): Promise<void> {
    const { failed, blocked } = this.#report;
    const isUnsettled = failed.length + blocked.length > 0;
    if (isUnsettled || this.#options.signal?.aborted === true) this.#leaveOut(planned);
    else await this.#write(planned, undefined);
  }

  async #write(action: PlanAction, object: DesiredObject | undefined): Promise<void> {
    const planned = this.#writer.asOfNow(action);
    try {
      const view = object
        ? await this.#writer.write(planned, object)
        : await this.#writer.remove(planned);
      await this.#writer.follow(this.#renames.followersOf(keyOf(planned)));
      if (object && view && planned.action === 'create') await this.#noteMade(object, view);
      this.#noteIssued(planned, object, view);
      this.#end('applied', { ...planned, id: view?.id ?? planned.id });
    } catch (error) {
      if (error instanceof StalePlanError) throw error;
      const changed = await this.#changed(planned, error);
      if (changed !== undefined && !this.#isAlone) throw stale(planned, changed);
      const message = error instanceof Error ? error.message : 'unknown reason';
      this.#end('failed', planned, changed ?? message);
    }
    this.#isAlone = true;
  }

  /** Reads the object after a conflict; returns the reason when another client changed it. */
  async #changed(planned: PlanAction, error: unknown): Promise<string | undefined> {
    const { status } = error as { status?: number };
    const isGone = status === 404 && planned.action !== 'create';
    if (status !== 409 && status !== 412 && !isGone) return undefined;
    const { kind } = planned;
    // The conflict itself is reported where the object cannot be looked at.
    const views = await this.#options.client.list(kind).catch(() => undefined);
    const actual = views && { ...this.#writer.actual, [kind]: views };
    return actual && staleness(planned, { ...this.#options, actual });
  }

  async #noteMade(object: DesiredObject, view: View): Promise<void> {
    const made = { object, view };
    if (!this.#isAlone && (await this.#twins([made])).length > 0) {
      throw stale(object, 'somebody else made it at the same time');
    }
    this.#made.push(made);
  }

  #twins(made: readonly Made[]): Promise<Made[]> {
    return yieldTwins(this.#options.client, made, this.#writer.actual);
  }

  #takeBack({ kind, identity }: DesiredObject): void {
    const { applied } = this.#report;
    const index = applied.findIndex((one) => one.kind === kind && one.identity === identity);
    const [outcome] = applied.splice(index, 1);
    const reason = 'somebody else made it at the same time; this one was taken back';
    if (outcome) this.#report.failed.push({ ...outcome, reason });
  }

  #noteIssued({ action }: PlanAction, object?: DesiredObject, view?: View): void {
    const value = view?.['value'];
    if (action !== 'create' || typeof value !== 'string' || !object) return;
    if (isIssued(object)) this.#report.issued.push({ identity: object.identity, value });
  }

  #leaveOut(planned: PlanAction): void {
    this.#unready.add(keyOf(planned));
    this.#report.notRun.push(toOutcome(planned));
  }

  #end(what: 'applied' | 'failed' | 'blocked', planned: PlanAction, reason?: string): void {
    const outcome = { ...toOutcome(planned), ...(reason !== undefined && { reason }) };
    if (what !== 'applied') this.#unready.add(keyOf(planned));
    this.#report[what].push(outcome);
    this.#options.onOutcome?.(outcome, what);
  }
}

function stale({ kind, identity }: Pick<PlanAction, 'kind' | 'identity'>, reason: string) {
  return new StalePlanError([{ kind, identity, reason }]);
}

function keyOf({ kind, identity }: PlanAction): string {
  return objectKey(kind, identity);
}

function toOutcome({ kind, identity, action, id }: PlanAction): Outcome {
  return { kind, identity, action, id };
}
