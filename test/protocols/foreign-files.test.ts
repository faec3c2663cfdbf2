import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/core/errors.ts';
import { verifies } from '../requirements.ts';
import { CLIENTS, translate } from './translating.ts';
import type { Spoken } from './translating.ts';

const user = (...content: object[]) => ({ max_tokens: 99, messages: [{ role: 'user', content }] });
const stored = { type: 'file', file_id: 'file-1' };
const input = (...content: object[]) => ({ input: [{ role: 'user', content }] });
const call = { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' };
const output = (...parts: object[]) => ({
  input: [call, { type: 'function_call_output', call_id: 'a', output: parts }],
});

const CASES: readonly (readonly [Spoken, object, string])[] = [
  [
    'chat',
    user({ type: 'file', file: { file_id: 'file-1' } }),
    'messages[0].content[0].file.file_id',
  ],
  [
    'chat',
    {
      messages: [
        {
          role: 'assistant',
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        {
          role: 'tool',
          tool_call_id: 'a',
          content: [{ type: 'file', file: { file_id: 'file-1' } }],
        },
      ],
    },
    'messages[1].content[0].file.file_id',
  ],
  [
    'messages',
    user({ type: 'text', text: 'x' }, { type: 'image', source: stored }),
    'messages[0].content[1].source.file_id',
  ],
  ['messages', user({ type: 'document', source: stored }), 'messages[0].content[0].source.file_id'],
  [
    'messages',
    user({ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'image', source: stored }] }),
    'messages[0].content[0].content[0].source.file_id',
  ],
  ['responses', input({ type: 'input_image', file_id: 'file-1' }), 'input[0].content[0].file_id'],
  ['responses', input({ type: 'input_file', file_id: 'file-1' }), 'input[0].content[0].file_id'],
  ['responses', output({ type: 'input_image', file_id: 'file-1' }), 'input[1].output[0].file_id'],
  [
    'responses',
    {
      input: [
        {
          type: 'computer_call_output',
          call_id: 'c',
          output: { type: 'computer_screenshot', file_id: 'file-1' },
        },
      ],
    },
    'input[0].output.file_id',
  ],
  [
    'generate-content',
    {
      contents: [
        {
          parts: [
            { fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/x' } },
          ],
        },
      ],
    },
    'contents[0].parts[0].fileData.fileUri',
  ],
];

describe('a file that only another vendor knows', () => {
  it.each(CASES)(
    verifies('translate.foreign-file-id', 'is refused with 400 by its path: %s %j'),
    (client, request, param) => {
      for (const target of CLIENTS.filter((one) => one !== client)) {
        const thrown = (() => {
          try {
            return translate(client, request, target);
          } catch (error) {
            return error;
          }
        })();
        expect(thrown).toBeInstanceOf(GatewayError);
        expect(thrown).toMatchObject({ code: 'unsupported_feature', status: 400, param });
        expect((thrown as GatewayError).message).toContain(param);
      }
    },
  );
});

describe('cache marks on tools', () => {
  const mark = { type: 'ephemeral', ttl: '1h' };
  const functions = ['f', 'g'].map((name) => ({ type: 'function', function: { name } }));
  const request = {
    messages: [{ role: 'user', content: 'x' }],
    tools: [functions[0], { ...functions[1], cache_control: mark }],
  };

  it(verifies('translate.cache-control-tools', 'reach Messages on the same tools'), () => {
    const { body, losses } = translate('chat', request, 'messages');
    expect(body.tools[0]).not.toHaveProperty('cache_control');
    expect(body.tools[1]).toMatchObject({ name: 'g', cache_control: mark });
    expect(losses).toEqual([]);
  });

  it('are named as lost where the target has none', () => {
    for (const target of ['responses', 'generate-content'] as const)
      expect(translate('chat', request, target).losses).toEqual(['tools.cache_control']);
    const tools = [{ name: 'f', input_schema: {}, cache_control: mark }];
    const { losses } = translate(
      'messages',
      { ...user({ type: 'text', text: 'x' }), tools },
      'chat',
    );
    expect(losses).toEqual(['tools.cache_control']);
  });
});
