// An agent of the Agent Client Protocol (version 1) without dependencies: JSON-RPC, one message a
// line. It takes notes and lists them. The package @agentclientprotocol/sdk does the protocol for you.
import { randomUUID } from 'node:crypto';
import { appendFile, readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';

// The working directory belongs to one Session, and stays until the Session is archived or deleted.
const NOTES = 'notes.txt';

let calls = 0;

const METHODS = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: {} }),
  'session/new': () => ({ sessionId: randomUUID() }),
  'session/prompt': async ({ sessionId, prompt }) => {
    const update = (update) => send({ method: 'session/update', params: { sessionId, update } });
    // Instructions and what was said before stand in front of the message.
    const text = prompt.findLast(({ type }) => type === 'text')?.text ?? '';
    const [, note] = /^remember:?\s+(.+)/is.exec(text.trim()) ?? [];
    const answer = note === undefined ? await listed() : await kept(note.trim(), update);
    update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: answer } });
    return { stopReason: 'end_turn' };
  },
};

async function listed() {
  const notes = await readFile(NOTES, 'utf8').catch(() => '');
  return notes === '' ? 'There are no notes. Say: remember: buy milk' : notes.trimEnd();
}

async function kept(note, update) {
  // What is told as a tool call can be read in the Session, and followed while it happens.
  const call = { toolCallId: `note-${++calls}`, title: 'Write a note', kind: 'edit' };
  update({ sessionUpdate: 'tool_call', ...call, status: 'in_progress', rawInput: { note } });
  await appendFile(NOTES, `- ${note.replaceAll('\n', ' ')}\n`);
  update({
    sessionUpdate: 'tool_call_update',
    toolCallId: call.toolCallId,
    status: 'completed',
    content: [{ type: 'content', content: { type: 'text', text: NOTES } }],
  });
  return `Noted: ${note}`;
}

// Standard output carries the protocol and nothing else; console.error goes to the gateway's log.
function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  // A note is written at once, so there is nothing to leave off: session/cancel needs no answer.
  if (id === undefined) continue;
  try {
    if (!METHODS[method]) send({ id, error: { code: -32601, message: `no method ${method}` } });
    else send({ id, result: await METHODS[method](params ?? {}) });
  } catch (error) {
    send({ id, error: { code: -32603, message: error.message } });
  }
}
