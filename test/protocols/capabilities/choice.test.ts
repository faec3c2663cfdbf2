import { describe, expect, it } from 'vitest';

import { verifies } from '../../requirements.ts';
import { translate } from '../translating.ts';
import type { Spoken } from '../translating.ts';

const NAMES = ['read', 'write', 'remove'];
const ALLOWED = ['read', 'write'];
const parameters = { type: 'object', properties: {} };
const chatTools = NAMES.map((name) => ({ type: 'function', function: { name, parameters } }));

/** Requests of each client with three tools, of which two may be called. */
const REQUEST = {
  chat: (mode: string) => ({
    messages: [{ role: 'user', content: 'go' }],
    tools: chatTools,
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: {
        mode,
        tools: ALLOWED.map((name) => ({ type: 'function', function: { name } })),
      },
    },
  }),
  responses: (mode: string) => ({
    input: 'go',
    tools: NAMES.map((name) => ({ type: 'function', name, parameters })),
    tool_choice: {
      type: 'allowed_tools',
      mode,
      tools: ALLOWED.map((name) => ({ type: 'function', name })),
    },
  }),
  'generate-content': (mode: string) => ({
    contents: [{ role: 'user', parts: [{ text: 'go' }] }],
    tools: [{ functionDeclarations: NAMES.map((name) => ({ name, parameters })) }],
    toolConfig: {
      functionCallingConfig: {
        mode: mode === 'required' ? 'ANY' : 'AUTO',
        allowedFunctionNames: ALLOWED,
      },
    },
  }),
} as const;

const toolsOf = (body: any): string[] =>
  (body.tools[0].functionDeclarations ?? body.tools).map(
    (tool: any) => (tool.function ?? tool).name,
  );

/** Whether one of the tools must be called. */
function isForced(target: Spoken, body: any): boolean {
  if (target === 'generate-content') return body.toolConfig.functionCallingConfig.mode === 'ANY';
  return ['required', 'any'].includes(body.tool_choice.type ?? body.tool_choice);
}

const PAIRS = (Object.keys(REQUEST) as (keyof typeof REQUEST)[]).flatMap((client) =>
  (['chat', 'responses', 'messages', 'generate-content'] as const)
    .filter((target) => target !== client)
    .flatMap((target) => ['auto', 'required'].map((mode) => ({ client, target, mode }))),
);

describe('a choice among several tools', () => {
  it.each(PAIRS)(
    verifies('translate.tool-choice', 'lets the model call these alone: $client to $target, $mode'),
    ({ client, target, mode }) => {
      const { body, losses } = translate(client, REQUEST[client](mode), target);
      expect(toolsOf(body)).toEqual(ALLOWED);
      expect(isForced(target, body)).toBe(mode === 'required');
      expect(losses).toEqual([]);
    },
  );

  it('of tools that are not there is left out and named', () => {
    const { tools } = REQUEST.chat('auto');
    const choice = { mode: 'required', tools: [{ type: 'function', function: { name: 'gone' } }] };
    const { body, losses } = translate(
      'chat',
      {
        messages: [{ role: 'user', content: 'go' }],
        tools,
        tool_choice: { type: 'allowed_tools', allowed_tools: choice },
      },
      'messages',
    );
    expect(body).not.toHaveProperty('tool_choice');
    expect(losses).toEqual(['tool_choice']);
  });
});

describe('a choice of a tool that is left out', () => {
  it.each(['chat', 'responses', 'generate-content'] as const)(
    verifies('translate.tool-choice', 'is left out with it: messages to %s'),
    (target) => {
      const request = {
        max_tokens: 99,
        messages: [{ role: 'user', content: 'go' }],
        tools: [
          { type: 'web_search_20250305', name: 'web_search' },
          { name: 'read', input_schema: parameters },
        ],
        tool_choice: { type: 'tool', name: 'web_search' },
      };
      const { body, losses } = translate('messages', request, target);
      expect(toolsOf(body)).toEqual(['read']);
      expect(JSON.stringify(body)).not.toContain('web_search');
      expect(losses.toSorted()).toEqual(['tool_choice', 'tools[0].web_search_20250305']);
    },
  );
});
