// An ACP agent on the agent side of the SDK. What it does is what the last text of the prompt says.
import { spawn } from 'node:child_process';
import { appendFileSync, readdirSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { agent, methods, ndJsonStream } from '@agentclientprotocol/sdk';

const ID = 'inside-4711';
let cancel = () => undefined;

const note = (what) => {
  if (process.env.NOTES) appendFileSync(process.env.NOTES, `${JSON.stringify(what)}\n`);
};

const DEEDS = {
  async tools({ update, client }) {
    await update({ sessionUpdate: 'agent_thought_chunk', content: text('Let me ') });
    await update({ sessionUpdate: 'agent_thought_chunk', content: text('see.') });
    await update({ sessionUpdate: 'agent_message_chunk', content: text('I read.') });
    const call = { toolCallId: 'call-1', title: 'Read notes', kind: 'read' };
    await update({ sessionUpdate: 'tool_call', ...call, status: 'pending' });
    const { outcome } = await client.request(methods.client.session.requestPermission, {
      sessionId: ID,
      toolCall: { toolCallId: 'call-1', rawInput: { path: 'notes.txt' } },
      options: [
        { optionId: 'always', name: 'Always', kind: 'allow_always' },
        { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
        { optionId: 'no', name: 'No', kind: 'reject_once' },
      ],
    });
    note({ outcome });
    const done = outcome.optionId === 'yes';
    await update({
      sessionUpdate: 'tool_call_update',
      toolCallId: 'call-1',
      status: done ? 'completed' : 'failed',
      content: [{ type: 'content', content: text(`the notes of ${ID}`) }],
    });
    await update({ sessionUpdate: 'agent_message_chunk', content: text(done ? 'Do' : 'No') });
    await update({ sessionUpdate: 'agent_message_chunk', content: text(done ? 'ne.' : 't done.') });
  },
  async secret({ update }) {
    const { AGENT_API_KEY: key = '' } = process.env;
    await update({ sessionUpdate: 'agent_message_chunk', content: text(key.slice(0, 5)) });
    await update({ sessionUpdate: 'agent_message_chunk', content: text(`${key.slice(5)} ${ID}`) });
    process.stderr.write(`my key is ${key}\n`);
  },
  async environment({ update }) {
    const names = Object.keys(process.env).toSorted().join(' ');
    const files = readdirSync('.').length;
    const said = `${names} | ${process.cwd()} | ${files}`;
    await update({ sessionUpdate: 'agent_message_chunk', content: text(said) });
  },
  async hang() {
    spawn('sleep', ['1000'], { stdio: 'ignore' });
    note('hangs');
    await new Promise((resolve) => {
      cancel = resolve;
    });
    return 'cancelled';
  },
  async die({ update }) {
    await update({ sessionUpdate: 'agent_message_chunk', content: text('half a') });
    spawn('setsid', ['sleep', '1000'], { stdio: 'ignore', detached: true });
    const call = { toolCallId: 'call-2', title: 'Delete', kind: 'delete', status: 'in_progress' };
    await update({ sessionUpdate: 'tool_call', ...call });
    process.exit(7);
  },
  refuse: async () => 'refusal',
  long: async () => 'max_tokens',
  async fail() {
    throw new Error(`no luck with ${process.env.AGENT_API_KEY}`);
  },
};

const text = (said) => ({ type: 'text', text: said });

agent({ name: 'test-agent' })
  .onRequest(methods.agent.initialize, ({ params }) => {
    note({ initialize: params });
    if (process.env.NEVER_READY) return new Promise(() => undefined);
    const seeing = process.env.SEEING ? { image: true, embeddedContext: true } : {};
    return {
      protocolVersion: 1,
      agentCapabilities: { mcpCapabilities: { http: true }, promptCapabilities: seeing },
    };
  })
  .onRequest(methods.agent.session.new, ({ params }) => {
    note({ new: params });
    return { sessionId: ID };
  })
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    note({ prompt: params.prompt });
    const update = (told) =>
      client.notify(methods.client.session.update, { sessionId: ID, update: told });
    const said = params.prompt.at(-1).text;
    const deed = DEEDS[said];
    const stopReason = deed
      ? await deed({ update, client })
      : await update({ sessionUpdate: 'agent_message_chunk', content: text(`You said ${said}`) });
    return { stopReason: stopReason ?? 'end_turn' };
  })
  .onNotification(methods.agent.session.cancel, () => {
    note('cancelled');
    cancel();
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
