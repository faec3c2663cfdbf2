import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { inTurn } from '../../runs.ts';
import { chunk, customProvider } from '../../support/chat.ts';
import { eventually, startGateway, writeConfig } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { beginEvents, startUpstream } from '../../support/stage/upstream.ts';
import type { Upstream } from '../../support/stage/upstream.ts';

const PIECES = ['<0>', '<1>', '<2>', '<3>'];

/** A provider that ends its streams when the test says so. */
let slow: Upstream;
let end = (): void => undefined;
beforeAll(async () => {
  slow = await startUpstream(async (response) => {
    beginEvents(response);
    const [first = '', ...others] = PIECES;
    response.write(chunk({ content: first }));
    await new Promise<void>((resolve) => (end = resolve));
    for (const content of others) response.write(chunk({ content }));
    response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
  });
});
afterAll(() => slow.close());

const saying = (text: string) => ({
  providers: [
    { name: 'mock', type: 'mock', mock: { rules: [{ reply: { text } }] } },
    customProvider('slow', slow.url),
  ],
  models: [
    { name: 'acme/stays', routes: [{ provider: 'mock' }] },
    { name: 'acme/goes', routes: [{ provider: 'slow', upstream_model: 'up' }] },
  ],
});
const before = () => saying('before the reload');
const after = () => {
  const { models, ...rest } = saying('after the reload');
  return { ...rest, models: models.slice(0, 1) };
};

/** One way of telling a gateway to look at its file again. */
interface Way {
  name: string;
  args: string[];
  tell(gateway: TestGateway): void;
}
const WAYS: Way[] = [
  { name: 'SIGHUP', args: [], tell: ({ child }) => void child?.kill('SIGHUP') },
  { name: '--watch', args: ['--watch'], tell: () => undefined },
];

const said = async (gateway: TestGateway): Promise<string> =>
  (await gateway.chat('acme/stays')).body.choices[0].message.content;

describe.each(inTurn('way of a reload', WAYS))('a reload by $name', ({ args, tell }) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway(before(), { binary: true, args });
  });
  afterAll(async () => void (await gateway.stop()));

  it(
    verifies(
      'ops.reload.atomic',
      'ops.reload.streams',
      'swaps the configuration whole; an open stream ends on the old one',
    ),
    async () => {
      const asked = slow.seen.length;
      const stream = gateway.chat('acme/goes', { body: { stream: true } });
      const call = await eventually(() => slow.seen[asked]);
      await eventually(async () => (await said(gateway)) === 'before the reload');

      await writeConfig(gateway.directory, after(), true);
      tell(gateway);
      await eventually(async () => (await said(gateway)) === 'after the reload');
      const gone = await gateway.chat('acme/goes');
      expect(gone.status).toBe(404);
      expect(call.aborted).toBe(false);
      end();
      const { status, body: events } = await stream;
      expect(status).toBe(200);
      const contents = [...String(events).matchAll(/"content":"(<\d+>)"/g)].map(([, text]) => text);
      expect(contents).toEqual(PIECES);
      expect(events).toContain('data: [DONE]');
    },
  );

  it(
    verifies(
      'ops.reload.atomic',
      'of an invalid file changes nothing and says so, until the file is right again',
    ),
    async () => {
      const ready = async () => (await gateway.call('GET', '/readyz', { key: '' })).body;
      const { configuration } = await ready();
      const models = async () => (await gateway.admin('GET', '/admin/v1/models')).body;
      const loaded = await models();

      await writeConfig(
        gateway.directory,
        {
          ...before(),
          models: [...before().models, { name: 'acme/bad', routes: [{ provider: 'nobody' }] }],
        },
        true,
      );
      tell(gateway);
      await eventually(async () => (await ready()).reload_error !== null);
      expect(gateway.log()).toMatch(/gateway\.yaml:\d+:\d+.*nobody/);
      expect(await ready()).toMatchObject({ status: 'ready', configuration });
      expect(await models()).toEqual(loaded);
      expect(await said(gateway)).toBe('after the reload');
      expect((await gateway.chat('acme/goes')).status).toBe(404);

      await writeFile(join(gateway.directory, 'gateway.yaml'), '{');
      tell(gateway);
      await eventually(() => (gateway.log().match(/was not reloaded/g) ?? []).length >= 2);
      expect(await said(gateway)).toBe('after the reload');

      await writeConfig(gateway.directory, before(), true);
      tell(gateway);
      await eventually(async () => (await said(gateway)) === 'before the reload');
      await eventually(async () => (await ready()).reload_error === null);
      expect((await ready()).configuration).not.toBe(configuration);
    },
  );
});
