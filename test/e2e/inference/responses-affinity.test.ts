import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { customProvider } from '../../support/chat.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { Answer, StartGatewayOptions, TestGateway } from '../../support/gateway.ts';
import { beginEvents, sendJson, startUpstream } from '../../support/stage/upstream.ts';
import type { Upstream } from '../../support/stage/upstream.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

/** A provider whose every answer has an id and a reasoning of its own. */
async function startProvider(name: string): Promise<Upstream> {
  let count = 0;
  const upstream = await startUpstream((response, { body }) => {
    if (isDown.has(name)) return sendJson(response, 503, { error: { message: 'overloaded' } });
    const answer = answerOf(name, count++);
    if (!body.includes('"stream":true')) return sendJson(response, 200, answer);
    beginEvents(response);
    const events = [
      { type: 'response.created', response: { ...answer, status: 'in_progress', output: [] } },
      ...answer.output.map((item, output_index) => ({
        type: 'response.output_item.added',
        output_index,
        item,
      })),
      ...answer.output.map((item, output_index) => ({
        type: 'response.output_item.done',
        output_index,
        item,
      })),
      { type: 'response.completed', response: answer },
    ];
    response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  });
  onTestFinished(() => upstream.close());
  return upstream;
}

function answerOf(name: string, count: number) {
  const said = { type: 'output_text', text: name, annotations: [] };
  return {
    id: `resp_${name}_${count}`,
    object: 'response',
    status: 'completed',
    model: 'up',
    output: [
      {
        type: 'reasoning',
        id: `rs_${name}_${count}`,
        summary: [],
        encrypted_content: `gAAA${name}${count}`,
      },
      {
        type: 'message',
        id: `msg_${name}_${count}`,
        role: 'assistant',
        status: 'completed',
        content: [said],
      },
    ],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  };
}

const isDown = new Set<string>();
let a: Upstream;
let b: Upstream;

beforeEach(async () => {
  isDown.clear();
  a = await startProvider('a');
  b = await startProvider('b');
});

const config = () => ({
  providers: [customProvider('a', a.url), customProvider('b', b.url)].map((one) => ({
    ...one,
    protocols: { responses: true },
  })),
  models: [
    {
      name: 'm/ab',
      routes: ['a', 'b'].map((provider) => ({ provider, upstream_model: 'up' })),
    },
  ],
});

async function start(options: StartGatewayOptions = {}): Promise<TestGateway> {
  const server = options.directory === undefined ? {} : { store: { driver: 'lmdb' } };
  const gateway = await startGateway({ ...config(), server }, options);
  onTestFinished(async () => void (await gateway.stop()));
  return gateway;
}

const ask = (gateway: TestGateway, rest: object = {}, key = gateway.clientKey): Promise<Answer> =>
  gateway.call('POST', '/v1/responses', { body: { model: 'm/ab', input: 'x', ...rest }, key });

/** Which provider answered. */
const by = ({ body }: Answer): string => body.output?.at(-1).content[0].text;

/** The ways to go on from an answer. */
const waysOn = ({ body }: Answer): object[] => [
  { previous_response_id: body.id },
  { input: [{ role: 'user', content: 'x' }, ...body.output, { role: 'user', content: 'y' }] },
  {
    input: [
      { type: 'item_reference', id: body.output.at(-1).id },
      { role: 'user', content: 'y' },
    ],
  },
  {
    input: [
      { ...body.output[0], encrypted_content: undefined },
      { role: 'user', content: 'y' },
    ],
  },
];

/** An answer of each of the two. */
async function answersOfBoth(gateway: TestGateway): Promise<Answer[]> {
  const found = new Map<string, Answer>();
  await eventually(async () => {
    const answer = await ask(gateway);
    found.set(by(answer), answer);
    return found.size === 2;
  });
  return [...found.values()];
}

describe('a Responses call that goes on from another', () => {
  it(
    verifies('routing.affinity.responses', 'goes to the provider that gave it, 8 of 8 times'),
    async () => {
      const gateway = await start();
      for (const answer of await answersOfBoth(gateway)) {
        for (const rest of waysOn(answer)) {
          for (let i = 0; i < 8; i++) expect(by(await ask(gateway, rest))).toBe(by(answer));
        }
      }
    },
  );

  it(verifies('routing.affinity.responses', 'goes there from a stream, too'), async () => {
    const gateway = await start();
    for (let i = 0; i < 3; i++) {
      const { body } = await ask(gateway, { stream: true });
      const last = (body as string).split('data: ').at(-1) as string;
      const { response } = JSON.parse(last) as { response: Answer['body'] };
      const answer = { body: response } as Answer;
      for (const rest of waysOn(answer)) {
        for (let turn = 0; turn < 4; turn++) expect(by(await ask(gateway, rest))).toBe(by(answer));
      }
    }
  });

  it(
    verifies(
      'routing.affinity.responses',
      'goes there after a restart, and from another process of the same store',
    ),
    async () => {
      const directory = await directoryOfTest();
      const first = await start({ directory });
      const key = first.clientKey;
      const answers = await answersOfBoth(first);
      const second = await start({ binary: true, directory });
      const goesOn = async (gateway: TestGateway): Promise<void> => {
        for (const answer of answers) {
          for (const rest of waysOn(answer)) {
            for (let i = 0; i < 6; i++) expect(by(await ask(gateway, rest, key))).toBe(by(answer));
          }
        }
      };
      await goesOn(second);
      await first.stop();
      await second.stop();
      await goesOn(await start({ directory }));
    },
  );

  it(
    verifies('routing.affinity.responses', 'fails where that provider is down or disabled'),
    async () => {
      const gateway = await start();
      const [answer] = await answersOfBoth(gateway);
      const name = by(answer as Answer);
      const other = name === 'a' ? b : a;
      const before = other.seen.length;
      isDown.add(name);
      for (const rest of waysOn(answer as Answer)) {
        expect((await ask(gateway, rest)).status).toBe(503);
      }
      isDown.clear();
      const { body } = await gateway.admin('GET', '/admin/v1/providers?limit=100');
      const { id } = body.data.find((one: { name: string }) => one.name === name);
      await gateway.admin('PATCH', `/admin/v1/providers/${id}`, { enabled: false });
      const own = name === 'a' ? a : b;
      for (const rest of waysOn(answer as Answer)) {
        await eventually(async () => {
          const calls = own.seen.length;
          const { status } = await ask(gateway, rest);
          return status === 503 && own.seen.length === calls;
        });
      }
      expect(other.seen).toHaveLength(before);
      expect((await ask(gateway)).status).toBe(200);
    },
  );

  it('is free to go anywhere when nobody knows that answer', async () => {
    const gateway = await start();
    isDown.add('a');
    expect(by(await ask(gateway, { previous_response_id: 'resp_unheard_of' }))).toBe('b');
  });
});
