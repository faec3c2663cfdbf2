import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { adminEnv } from '../../support/binary.ts';
import { BINARY, startGateway, type TestGateway } from '../../support/gateway.ts';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const UP = '\u001b[A';
const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

interface Asked {
  model: string;
  messages: { role: string; content: unknown }[];
}
let asked: Asked[] = [];

/** Answers `said <last text>`; `slowly` never ends, `fail` is refused. */
const upstream = createServer((request, response) => {
  void (async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Asked;
    asked.push({ model: body.model, messages: body.messages });
    const content = body.messages.at(-1)?.content;
    const text = Array.isArray(content) ? (content.at(-1) as { text: string }).text : content;
    if (text === 'fail') {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'this is refused', code: 'bad' } }));
      return;
    }
    const event = (delta: object, end: string | null): string => {
      const choices = [{ index: 0, delta, finish_reason: end }];
      const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices };
      return `data: ${JSON.stringify(chunk)}\n\n`;
    };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event({ role: 'assistant', content: `said ${String(text)}` }, null));
    if (text !== 'slowly') response.end(`${event({}, 'stop')}data: [DONE]\n\n`);
  })();
});

let gateway: TestGateway;
beforeAll(async () => {
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const base_url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`;
  const routes = (model: string) => [{ provider: 'up', upstream_model: model }];
  gateway = await startGateway({
    providers: [{ name: 'up', type: 'custom', base_url, protocols: { chat: true } }],
    models: [
      { name: 'own/first', routes: routes('first') },
      { name: 'own/second', routes: routes('second') },
    ],
  });
  await writeFile(join(gateway.directory, 'dot.png'), PNG);
  await writeFile(join(gateway.directory, 'notes.md'), 'Remember the milk.');
  await writeFile(join(gateway.directory, 'odd.bin'), Buffer.from([1, 0, 2]));
});
beforeEach(() => {
  asked = [];
});
afterAll(async () => {
  await gateway.stop();
  upstream.close();
  upstream.closeAllConnections();
});

/** Keys to press once the text has been shown since the last ones. */
type Step = readonly [seen: string, keys: string];

/** Runs a command line on a terminal; a step is missed when the program ends before it. */
async function typed(argv: string[], steps: Step[]): Promise<{ code: number; shown: string }> {
  const line = [process.execPath, BINARY, ...argv].join(' ');
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    cwd: gateway.directory,
    env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm', NO_COLOR: '1', ...adminEnv(gateway) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const left = [...steps];
  let shown = '';
  let from = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
    for (let at; left[0] !== undefined && (at = shown.indexOf(left[0][0], from)) !== -1;) {
      from = at + left[0][0].length;
      child.stdin.write(left[0][1]);
      left.shift();
    }
  });
  const [code] = await once(child, 'close');
  expect(left, shown).toEqual([]);
  return { code, shown };
}

const user = (content: unknown) => ({ role: 'user', content });
const model = (content: string) => ({ role: 'assistant', content });
const picture = {
  type: 'image_url',
  image_url: { url: `data:image/png;base64,${PNG.toString('base64')}` },
};

describe('gateway chat without text', () => {
  it(
    verifies(
      'cli.chat.conversation',
      'keeps a conversation with /model, /system and history; Ctrl-C stops the answer, not the program; files are sent',
    ),
    async () => {
      const { code, shown } = await typed(
        ['chat', 'own/first', '--file', 'dot.png'],
        [
          ['> ', 'one\r'],
          ['said one', ''],
          ['> ', '/system Be brief\r'],
          ['the system message is set', ''],
          ['> ', '/model own/second\r'],
          ['the model is own/second now', ''],
          ['> ', 'slowly\r'],
          ['said slowly', CTRL_C],
          ['stopped', ''],
          ['> ', '/file notes.md\r'],
          ['notes.md goes with the next message', ''],
          ['> ', 'four\r'],
          ['said four', ''],
          ['> ', `${UP}${UP}${UP}\r`],
          ['said slowly', CTRL_C],
          ['stopped', ''],
          ['> ', CTRL_D],
        ],
      );
      expect(code, shown).toBe(0);
      const [first, slow, fourth, again] = asked;
      const one = user([picture, { type: 'text', text: 'one' }]);
      expect(first).toEqual({ model: 'first', messages: [one] });
      const system = { role: 'system', content: 'Be brief' };
      const soFar = [system, one, model('said one'), user('slowly')];
      expect(slow).toEqual({ model: 'second', messages: soFar });
      const notes = { type: 'text', text: 'notes.md:\nRemember the milk.' };
      soFar.push(model('said slowly'), user([notes, { type: 'text', text: 'four' }]));
      expect(fourth?.messages).toEqual(soFar);
      expect(again?.messages).toEqual([...soFar, model('said four'), user('slowly')]);
      const id = /logs --conversation (\S+)/.exec(shown)?.[1] ?? '';
      const { body } = await gateway.admin('GET', `/admin/v1/requests?conversation=${id}`);
      expect(body.data).toHaveLength(4);
    },
  );

  it('tells a failure, takes the message back and goes on', async () => {
    const { code, shown } = await typed(
      ['chat', 'own/first'],
      [
        ['> ', 'fail\r'],
        ['this is refused', ''],
        ['> ', '/file odd.bin\r'],
        ['of no type that a chat can carry', ''],
        ['> ', '/modle x\r'],
        ['did you mean /model?', ''],
        ['> ', '"""two\rlines"""\r'],
        ['said two', ''],
        ['> ', `lost${CTRL_C}`],
        ['/exit or Ctrl-D leaves', '/exit\r'],
      ],
    );
    expect(code, shown).toBe(0);
    expect(asked.map(({ messages }) => messages)).toEqual([[user('fail')], [user('two\nlines')]]);
  });
});

describe('gateway chat with text', () => {
  it('sends files along, too', async () => {
    const { code, shown } = await typed(['chat', 'own/first', 'look', '--file', 'dot.png'], []);
    expect(code, shown).toBe(0);
    expect(asked[0]?.messages).toEqual([user([picture, { type: 'text', text: 'look' }])]);
    const missing = await typed(['chat', 'own/first', 'look', '--file', 'none.png'], []);
    expect(missing).toMatchObject({ code: 64 });
    expect(missing.shown).toContain('none.png does not exist');
  });
});
