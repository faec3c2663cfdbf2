import { Buffer } from 'node:buffer';
import { describe, expect, it, vi } from 'vitest';

import { callFormsOf } from '../../../src/protocols/canonical/call-forms.ts';
import { scanRequest } from '../../../src/protocols/scan-request.ts';

const CUSTOM = { type: 'custom', name: 'patch' };

/** Names of custom tools in a request, and the members that were parsed to find them. */
function read(request: object) {
  const json = scanRequest(Buffer.from(JSON.stringify(request)));
  const get = vi.spyOn(json, 'get');
  const custom = [...(callFormsOf(json)?.custom ?? [])];
  return { custom, parsed: get.mock.calls.map(([name]) => name) };
}

describe('names of custom tools', () => {
  const input = [{ type: 'message', role: 'user', content: 'a long conversation' }];

  it('are found without parsing a conversation in which no item declares tools', () => {
    expect(read({ input, tools: [] })).toEqual({ custom: [], parsed: [] });
    expect(read({ input, tools: [CUSTOM] })).toEqual({ custom: ['patch'], parsed: ['tools'] });
  });

  it('are found in items that declare tools', () => {
    const item = { type: 'additional_tools', role: 'developer', tools: [CUSTOM] };
    expect(read({ input: [item, ...input] }).custom).toEqual(['patch']);
  });
});
