import { StoreError } from './store.ts';
import type { Changes, Row, Table } from './table.ts';

const MAX_GROUP = 1_000;
const MAX_WAITING = 50_000;

/** The state that a group of commits builds up, on top of the table, until it is durable. */
export interface Stage {
  look(id: string): Row | undefined;
  set(id: string, row: Row | undefined): void;
  nextVersion(): number;
}

export interface TableWriterOptions {
  table: Table;
  /** The highest version that was ever given out. */
  lastVersion: number;
  /** Makes a group durable before anyone sees it. A rejection fails the whole group. */
  persist: (changes: Changes, lastVersion: number) => Promise<void> | void;
  /** Receives every group once it is visible. */
  onChanged: (changes: Changes) => void;
}

export interface TableWriter {
  /** Runs `step` on what the commits before it left; resolves when its group is durable. */
  write<R>(step: (stage: Stage) => R): Promise<R>;
  /** Resolves when no group is under way or waiting. */
  idle(): Promise<void>;
}

interface Task {
  /** Returns what settles the caller's promise once the group is durable. */
  run(stage: Stage): () => void;
  reject(error: unknown): void;
}

/**
 * Serialises writers in groups: what arrives while one group is being made durable forms the next,
 * so the cost of durability is shared and conditions are always judged on the latest state.
 */
export function createTableWriter(options: TableWriterOptions): TableWriter {
  const { table, persist, onChanged } = options;
  const waiting: Task[] = [];
  let { lastVersion } = options;
  let working: Promise<void> | undefined;

  async function work(): Promise<void> {
    // Every commit of this turn joins the group.
    await Promise.resolve();
    while (waiting.length > 0) await commitGroup(waiting.splice(0, MAX_GROUP));
    working = undefined;
  }

  async function commitGroup(tasks: Task[]): Promise<void> {
    const changes = new Map<string, Row | undefined>();
    const stage: Stage = {
      look: (id) => (changes.has(id) ? changes.get(id) : table.get(id)),
      set: (id, row) => void changes.set(id, row),
      nextVersion: () => ++lastVersion,
    };
    const settle = tasks.map((task) => attempt(task, stage));
    try {
      if (changes.size > 0) await persist(changes, lastVersion);
    } catch (error) {
      for (const task of tasks) task.reject(error);
      return;
    }
    table.apply(changes);
    onChanged(changes);
    for (const finish of settle) finish();
  }

  return {
    write: (step) =>
      new Promise((resolve, reject) => {
        if (waiting.length >= MAX_WAITING) {
          reject(new StoreError('unavailable', 'too many commits wait for the store'));
          return;
        }
        waiting.push({
          run(stage) {
            const result = step(stage);
            return () => resolve(result);
          },
          reject,
        });
        working ??= work();
      }),
    idle: async () => working,
  };
}

/** A step that throws has staged nothing; the others do not fail. */
function attempt(task: Task, stage: Stage): () => void {
  try {
    return task.run(stage);
  } catch (error) {
    return () => task.reject(error);
  }
}
