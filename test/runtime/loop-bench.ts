import { setImmediate as nextTurn } from 'node:timers/promises';
import { createIdSource } from '../../src/core/ids.ts';
import type { InferenceDeps } from '../../src/inference/run-inference.ts';
import { createMockEngine } from '../../src/providers/mock/engine.ts';
import type { CassetteInput } from '../../src/providers/mock/tape/cassette.ts';
import { createMockTransport } from '../../src/providers/mock/transport.ts';
import type { AttachedFile } from '../../src/runtime/turn/attached-files.ts';
import { createModelCaller } from '../../src/runtime/turn/model-caller.ts';
import { createModelLoop } from '../../src/runtime/model/model-loop.ts';
import type { TurnSkill } from '../../src/runtime/model/skill-server.ts';
import type { ToolServers } from '../../src/runtime/tools/tool-server.ts';
import type { PayingKey, Principal } from '../../src/usage/principal.ts';
import type { Pricing } from '../../src/usage/usage.ts';
import type { RequestStart } from '../../src/usage/ledger/ledger.ts';
import { fakeAccount, fakeCatalog, fakeModel, fakeRoute } from '../support/catalog.ts';
import { inferenceBench } from '../support/inference.ts';
import { mock } from '../../src/providers/mock/mock.ts';
import { Crash } from './fake-log.ts';
import type { FakeSession } from './fake-log.ts';
import { fakeServers } from './fake-servers.ts';
import { SPOKEN } from '../protocols/spoken.ts';

export type Rules = NonNullable<CassetteInput['rules']>;

export interface BenchOptions {
  rules?: Rules;
  servers?: ToolServers;
  /** What the providers speak. Default: the protocol of the loop itself. */
  protocol?: 'messages' | 'chat' | 'responses' | 'generate-content';
  admit?: (payer: PayingKey) => void;
  ledger?: Partial<InferenceDeps['ledger']>;
  pricing?: Pricing;
  contextWindow?: number;
  skills?: readonly TurnSkill[];
  files?: Readonly<Record<string, AttachedFile>>;
}

export function fakeSkill(
  name: string,
  description: string,
  files: Readonly<Record<string, string | Buffer>>,
): TurnSkill {
  const read = Object.entries(files).map(([path, content]) => ({
    path,
    bytes: Buffer.from(content),
  }));
  return {
    name,
    description,
    files: read.map(({ path, bytes }) => ({ path, size: bytes.length })),
    read: async () => read,
  };
}

const TEA = fakeSkill('tea', 'making tea', {
  'SKILL.md': '---\nname: tea\ndescription: making tea\n---\n\nBoil water.\n',
});

export const PRINCIPAL: Principal = {
  keyId: 'key_1',
  keyName: 'one',
  organizationId: 'org_1',
  organizationEnabled: true,
  scopes: null,
  keySpend: null,
  organizationSpend: null,
  rpmCap: null,
  concurrencyCap: null,
  allowedModels: null,
};

/** The loop on the mock provider, with a clock that tests drive. */
export function loopBench(options: BenchOptions = {}) {
  const { rules = [], servers = fakeServers(), protocol = 'messages' } = options;
  const { deps, clock, outcomes } = inferenceBench();
  const engine = createMockEngine({ cassette: { rules }, clock });
  const transport = createMockTransport(engine, clock);
  const account = fakeAccount('mock', {
    definition: mock,
    protocols: mock.protocols,
    baseUrl: 'http://127.0.0.1:9',
  });
  const route = fakeRoute('mock', {
    provider: account,
    protocols: new Set([protocol]),
    mapping: 'translated',
    ...(options.pricing && { pricing: options.pricing }),
  });
  const catalog = fakeCatalog(
    fakeModel('acme/fast', [route], { contextWindow: options.contextWindow }),
  );
  const starts: RequestStart[] = [];
  const begin = deps.ledger.begin;
  const ledger = {
    ...deps.ledger,
    begin(start: RequestStart) {
      starts.push(start);
      return begin(start);
    },
    ...options.ledger,
  };
  const held = { count: 0 };
  const bugs: unknown[] = [];
  const model = createModelCaller({
    spoken: SPOKEN,
    inference: { ...deps, transportFor: () => transport, ledger },
    catalog: () => catalog,
    async admit(payer) {
      options.admit?.(payer);
      held.count++;
      return { principal: PRINCIPAL, leave: () => void held.count-- };
    },
    ids: createIdSource(clock),
  });
  const loop = createModelLoop({
    model,
    servers,
    skills: async () => options.skills ?? [TEA],
    file: async (_session, id) => options.files?.[id],
    clock,
    random: () => 0.5,
    onBug: (thrown) => bugs.push(thrown),
  });

  /** Runs turns in one process until nothing is left to do; true when it crashed. */
  const run = async (session: FakeSession): Promise<boolean> => {
    const log = session.open();
    const { signal } = new AbortController();
    const work = loop.run(log, signal).then(
      () => log.isDead(),
      (thrown: unknown) => {
        if (thrown instanceof Crash) return true;
        throw thrown;
      },
    );
    await driven(work);
    return work;
  };

  /** Lets time pass, a second whenever nothing else happens. */
  const driven = async (work: Promise<unknown>): Promise<void> => {
    const state = { isDone: false };
    const end = (): void => void (state.isDone = true);
    work.then(end, end);
    for (let round = 0; !state.isDone; round++) {
      await nextTurn();
      if (round % 20 === 19) clock.advance(1000);
      if (round > 20_000) throw new Error('the loop does not come to rest');
    }
  };

  return { run, loop, clock, engine, outcomes, starts, held, bugs };
}

/** Passes event loop turns, but no time. */
export async function turns(count = 50): Promise<void> {
  for (let i = 0; i < count; i++) await nextTurn();
}
