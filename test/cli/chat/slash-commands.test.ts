import { expect, it } from 'vitest';
import { Conversation } from '../../../src/cli/chat/conversation.ts';
import { completeLine, runSlashCommand } from '../../../src/cli/chat/slash-commands.ts';

const models = () => Promise.resolve(['own/first', 'own/second']);

it.each([
  ['/', ['/model', '/system', '/file', '/clear', '/help', '/exit'], '/'],
  ['/mo', ['/model'], '/mo'],
  ['/model own/s', ['own/second'], 'own/s'],
  ['hello', [], 'hello'],
])('completes %j', async (line, found, part) => {
  expect(await completeLine(line, models)).toEqual([found, part]);
});

it('clears a conversation, but for model and system message', async () => {
  const conversation = new Conversation('own/first', 'Be brief');
  conversation.ask('one');
  await runSlashCommand('/clear', { conversation, cwd: '.', models });
  expect(conversation.ask('two')).toEqual([
    { role: 'system', content: 'Be brief' },
    { role: 'user', content: 'two' },
  ]);
});

it('suggests a listed model for an unknown name, and takes it all the same', async () => {
  const conversation = new Conversation('own/first', undefined);
  const told = await runSlashCommand('/model own/secnd', { conversation, cwd: '.', models });
  expect(told).toBe('the model is own/secnd now; it is not listed, did you mean own/second?');
  expect(conversation.model).toBe('own/secnd');
});
