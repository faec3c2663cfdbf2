import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PRELOAD = fileURLToPath(new URL('watch-journal.js', import.meta.url));

/** What the disk told of a file of the journal: a size, or that its folder lists it. */
interface Note {
  readonly file: string;
  readonly size?: number;
  readonly isListed?: true;
}

/** The ledger journals of gateways that run with {@link WatchedJournal.env}, and what the disk has of them. */
export interface WatchedJournal {
  readonly env: Record<string, string>;
  /** Syncs so far that took a part of a file to the disk. */
  syncs(): number;
  /** Text of the journal that a power cut would spare. */
  synced(folder: string): string;
  /** Does to the folder what a power cut does at its worst: takes what was not synced, brings back what was removed. */
  cutPower(folder: string): void;
  remove(): void;
}

export function watchJournal(): WatchedJournal {
  const notes = mkdtempSync(join(tmpdir(), 'journal-watch-'));
  const told = (): Note[] => {
    const path = join(notes, 'synced');
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Note]));
  };
  const sizes = (): Map<string, number> => {
    const all = told();
    const listed = new Set(all.flatMap(({ file, isListed }) => (isListed ? [file] : [])));
    const found = new Map<string, number>();
    for (const { file, size } of all)
      if (size !== undefined && listed.has(file)) found.set(file, size);
    return found;
  };
  return {
    env: { NODE_OPTIONS: `--import=${PRELOAD}`, WATCH_FOLDER: notes },
    syncs: () => told().filter(({ size }) => size !== undefined).length,
    synced(folder) {
      const parts = Array.from(sizes(), ([file, size]) => {
        const path = [folder, notes].map((each) => join(each, file)).find(existsSync);
        return path === undefined ? '' : readFileSync(path).toString('utf8', 0, size);
      });
      return parts.join('');
    },
    cutPower(folder) {
      const kept = sizes();
      for (const file of readdirSync(notes).filter((name) => name.endsWith('.wal')))
        copyFileSync(join(notes, file), join(folder, file));
      for (const file of readdirSync(folder)) {
        const size = kept.get(file);
        if (size === undefined) rmSync(join(folder, file));
        else truncateSync(join(folder, file), size);
      }
    },
    // A process that is being ended may still write.
    remove: () => rmSync(notes, { recursive: true, force: true, maxRetries: 10 }),
  };
}
