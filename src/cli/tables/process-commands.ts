import { CONFIG } from './shared-words.ts';

/** Commands on the process that serves the data folder here. */
export const PROCESS_COMMANDS = [
  {
    name: 'status',
    summary: 'Show the gateway that runs here',
    description:
      'Shows the process that serves the data folder of gateway.yaml (or of --config, or the nearest .gateway): since when, which files, which store, its providers and the work that waits. Exits 0 when one runs, 1 when none does.',
    examples: [
      { command: 'gateway status', note: 'Here' },
      { command: 'gateway status -c prod.yaml -o json', note: 'Of another file, for scripts' },
    ],
    flags: [CONFIG],
    load: () => import('../commands/local/status.ts'),
  },
  {
    name: 'reload',
    summary: 'Have the gateway that runs here read its files again',
    description:
      'Waits for the outcome and says what changed. All or nothing: a file with an error changes nothing (exit 3). Exits 5 when objects of the file belong to another owner and stay as they are.',
    examples: [{ command: 'gateway reload', note: 'After an edit of gateway.yaml' }],
    flags: [CONFIG],
    load: () => import('../commands/local/reload.ts'),
  },
  {
    name: 'stop',
    summary: 'Stop the gateway that runs here',
    description:
      'Lets it drain as SIGTERM does, and waits until it has ended, at most for --timeout (exit 8). Signals only a process whose start is the one that its file names.',
    examples: [
      { command: 'gateway stop', note: 'Calls under way end first' },
      { command: 'gateway stop --timeout 2m', note: 'Wait longer for them' },
    ],
    flags: [CONFIG],
    load: () => import('../commands/local/stop.ts'),
  },
] as const;
