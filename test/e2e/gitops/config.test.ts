import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway, writeConfig } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const PIECES = Array.from({ length: 20 }, (_, index) => `<${index}>`);
const SLOWLY = {
  match: { text: 'slowly' },
  reply: { text: PIECES.join(''), chunks: PIECES, chunk_delay_ms: 50 },
};
const saying = (text: string) => ({
  providers: [{ name: 'mock', type: 'mock', mock: { rules: [SLOWLY, { reply: { text } }] } }],
  models: ['acme/stays', 'acme/goes'].map((name) => ({ name, routes: [{ provider: 'mock' }] })),
});
const BEFORE = saying('before the reload');
const AFTER = saying('after the reload');
AFTER.models = AFTER.models.slice(0, 1);

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

describe.each(WAYS)('a reload by $name', ({ args, tell }) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway(BEFORE, { binary: true, args });
  });
  afterAll(async () => void (await gateway.stop()));

  it(
    verifies(
      'ops.reload.atomic',
      'ops.reload.streams',
      'swaps the configuration whole; an open stream ends on the old one',
    ),
    async () => {
      const body = { stream: true, messages: [{ role: 'user', content: 'slowly' }] };
      let isOpen = true;
      const stream = gateway.chat('acme/goes', { body }).finally(() => (isOpen = false));
      await eventually(async () => (await said(gateway)) === 'before the reload');

      await writeConfig(gateway.directory, AFTER, true);
      tell(gateway);
      await eventually(async () => (await said(gateway)) === 'after the reload');
      const gone = await gateway.chat('acme/goes');
      expect(gone.status).toBe(404);
      expect(isOpen).toBe(true);
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
      const before = await models();

      await writeConfig(
        gateway.directory,
        {
          ...BEFORE,
          models: [...BEFORE.models, { name: 'acme/bad', routes: [{ provider: 'nobody' }] }],
        },
        true,
      );
      tell(gateway);
      await eventually(async () => (await ready()).reload_error !== null);
      expect(gateway.log()).toMatch(/gateway\.yaml:\d+:\d+.*nobody/);
      expect(await ready()).toMatchObject({ status: 'ready', configuration });
      expect(await models()).toEqual(before);
      expect(await said(gateway)).toBe('after the reload');
      expect((await gateway.chat('acme/goes')).status).toBe(404);

      await writeFile(join(gateway.directory, 'gateway.yaml'), '{');
      tell(gateway);
      await eventually(() => (gateway.log().match(/was not reloaded/g) ?? []).length >= 2);
      expect(await said(gateway)).toBe('after the reload');

      await writeConfig(gateway.directory, BEFORE, true);
      tell(gateway);
      await eventually(async () => (await said(gateway)) === 'before the reload');
      await eventually(async () => (await ready()).reload_error === null);
      expect((await ready()).configuration).not.toBe(configuration);
    },
  );
});
