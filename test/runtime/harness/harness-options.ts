import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../src/core/time/clock.ts';
import { createIdSource } from '../../../src/core/ids.ts';
import type { Clock } from '../../../src/core/time/clock.ts';
import type { Log } from '../../../src/core/log.ts';
import type { AttachedFile } from '../../../src/runtime/turn/attached-files.ts';
import type { HarnessProgram } from '../../../src/runtime/harness/harness-program.ts';
import type { TurnSkill } from '../../../src/runtime/model/skill-server.ts';

const PROGRAMS = fileURLToPath(new URL('./programs/', import.meta.url));
const TIMEOUTS = { start: 20_000, turn: 20_000, stop: 1_000 };

export const KEY = 'sk-secret-of-the-agent-1';

const nothing = (): void => undefined;
export const quietLog: Log = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  flush: nothing,
};

export interface HarnessTestOptions {
  /** Default that of the system. */
  readonly clock?: Clock;
  readonly protocol: HarnessProgram['protocol'];
  readonly env?: Readonly<Record<string, string>>;
  readonly program?: Partial<HarnessProgram>;
  /** Agents may bring programs of their own. */
  readonly harnessesInline?: boolean;
  readonly skills?: readonly TurnSkill[];
  readonly files?: Readonly<Record<string, AttachedFile>>;
}

/** Parts that a runner takes and that tests never look at. */
export function harnessOptions(directory: string, options: HarnessTestOptions) {
  const { clock = systemClock } = options;
  const file = options.protocol === 'acp' ? 'acp-agent.mjs' : 'lines.mjs';
  const program: HarnessProgram = {
    command: process.execPath,
    args: [join(PROGRAMS, file)],
    protocol: options.protocol,
    timeouts: TIMEOUTS,
    ...options.program,
    env: { NOTES: join(directory, 'notes'), ...options.env },
  };
  return {
    harnesses: new Map([['tester', program]]),
    harnessesInline: options.harnessesInline === true,
    credentialsFor: async () => ({ AGENT_API_KEY: KEY, LD_PRELOAD: '/evil.so' }),
    servers: {
      guard: {
        check: async (url: string) => {
          if (url.includes('inside')) throw new Error('not to be called');
          return new URL(url);
        },
      },
      stdioServers: new Map([['shop', { command: 'shop', args: ['-v'] }]]),
      credentials: { select: async () => [] },
    },
    skills: async () => options.skills ?? [],
    file: async (_session: unknown, id: string) => options.files?.[id],
    directory: join(directory, 'work'),
    environment: { PATH: process.env['PATH'], GATEWAY_MASTER_KEY: 'none of its business' },
    clock,
    ids: createIdSource(clock),
    version: '1.0.0',
  };
}
