// One prompt through the client libraries that people have, for the demo.
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import OpenAI from 'openai';

const CLIENTS = {
  'openai, chat completions': async ({ url, key, model, prompt }) => {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key });
    const messages = [{ role: 'user', content: prompt }];
    const answer = await client.chat.completions.create({ model, messages });
    return answer.choices[0].message.content;
  },
  'openai, responses': async ({ url, key, model, prompt }) => {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key });
    return (await client.responses.create({ model, input: prompt })).output_text;
  },
  '@anthropic-ai/sdk, messages': async ({ url, key, model, prompt }) => {
    const client = new Anthropic({ baseURL: url, apiKey: key });
    const messages = [{ role: 'user', content: prompt }];
    const answer = await client.messages.create({ model, max_tokens: 100, messages });
    return answer.content.map((block) => block.text ?? '').join('');
  },
  '@google/genai, generate-content': async ({ url, key, model, prompt }) => {
    const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } });
    return (await client.models.generateContent({ model, contents: prompt })).text;
  },
};

/**
 * Asks `model` with every client library; gives what each got, by its name.
 *
 * @param {{ url: string, key: string, model: string, prompt: string }} question
 */
export async function askWithEveryClient(question) {
  const answers = {};
  for (const [name, ask] of Object.entries(CLIENTS)) answers[name] = await ask(question);
  return answers;
}

/**
 * Sends a message to a Service over REST; gives the Session, and its events behind the message while
 * they happen, with the words of answers on their way.
 *
 * @param {{ url: string, key: string, path: string, input: string }} message
 */
export async function runService({ url, key, path, input }) {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ input }),
  });
  if (response.status !== 202) throw new Error(`${path}: ${await response.text()}`);
  const { session_id: session, events } = await response.json();
  const { sessions } = new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 }).beta;
  const stream = await sessions.events.stream(
    session,
    { event_deltas: ['agent.message'] },
    { headers: { 'last-event-id': events[0].id } },
  );
  return { session, stream };
}

/** Calls a tool of a Service with the official MCP client over HTTP. */
export async function callTool({ url, key, path }, name, args) {
  const client = new Client({ name: 'demo', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url + path), { requestInit }));
  const { structuredContent } = await client.callTool({ name, arguments: args });
  await client.close();
  return structuredContent;
}

/** Prompts an agent that is a process on stdio with the official ACP client, as editors do. */
export async function promptAgent({ stdin, stdout }, text) {
  const { agent: of, client: us } = acp.methods;
  const stream = acp.ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout));
  const answer = { said: '', session: '', stopReason: '' };
  await acp
    .client({ name: 'demo' })
    .onNotification(us.session.update, ({ params: { update } }) => {
      if (update.sessionUpdate === 'agent_message_chunk') answer.said += update.content.text;
    })
    .connectWith(stream, async (agent) => {
      await agent.request(of.initialize, { protocolVersion: acp.PROTOCOL_VERSION });
      const { sessionId } = await agent.request(of.session.new, { cwd: '/', mcpServers: [] });
      const prompt = [{ type: 'text', text }];
      const { stopReason } = await agent.request(of.session.prompt, { sessionId, prompt });
      Object.assign(answer, { session: sessionId, stopReason });
    });
  return answer;
}
