import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactSecrets, toPublicMessage } from '../../src/core/redact.ts';
import { verifies } from '../requirements.ts';
import { anyCharacter } from '../support/text/any-character.ts';

describe('redactSecrets', () => {
  it('removes every spelling of a secret', () => {
    const secret = 'a+b/c"d=e';
    const text = `${secret} ${encodeURIComponent(secret)} ${JSON.stringify({ secret })}`;
    expect(redactSecrets(text, [secret])).toBe('[redacted] [redacted] {"secret":"[redacted]"}');
  });

  it('removes a secret that contains another one whole, and ignores short ones', () => {
    expect(redactSecrets('secret-1-long secret-1 a', ['secret-1', 'secret-1-long', 'a', ''])).toBe(
      '[redacted] [redacted] a',
    );
  });

  it('never throws, also on lone surrogates', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: anyCharacter }),
        fc.array(fc.string({ unit: anyCharacter })),
        (text, secrets) => {
          redactSecrets(text, secrets);
        },
      ),
    );
    expect(redactSecrets('x', ['\ud800abcdefg'])).toBe('x');
  });
});

describe('toPublicMessage', () => {
  it.each([
    ['Incorrect API key provided: sk-proj-abcdEFGH1234. See docs.', 'sk-proj'],
    ['Incorrect API key provided: sk-ab***********wxyz.', 'wxyz'],
    ['Incorrect API key provided: abcd****************wxyz.', 'wxyz'],
    ['header Authorization: Bearer abc.def.ghi123 refused', 'abc.def'],
    ['token=hunter2hunter2 is wrong', 'hunter2'],
    ['key AIzaSyA1234567890abcdefghij is blocked', 'AIza'],
    ['jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0.abc-def expired', 'eyJ'],
    ['Rate limit reached for gpt-4o in organization org-AbCdEf123456 on tokens', 'org-AbC'],
    ['Permission denied on projects/my-secret-project/locations/eu', 'my-secret-project'],
    ['arn:aws:bedrock:us-east-1:123456789012:model/x denied', '123456789012'],
    ['account billing@corp.example.com is suspended', 'billing@corp'],
    ['connect ECONNREFUSED 10.0.3.7:8443', '10.0.3.7'],
    ['getaddrinfo ENOTFOUND llm-backend', 'llm-backend'],
    ['upstream http://llm.svc.cluster.local:8000/v1/x failed', 'cluster'],
    ['upstream llm.svc.cluster.local failed', 'cluster'],
    ['upstream vllm-0:8000 failed', 'vllm-0'],
    ['see https://my-resource.openai.azure.com/openai/deployments', 'my-resource'],
    ['my-resource.openai.azure.com said no', 'my-resource'],
    ['peer [fe80:0:0:1:2:3:4:5]:443 closed', 'fe80'],
    ['cannot read /srv/app/models/config.json', '/srv'],
    ['cannot read C:\\models\\config.json', 'models'],
    ['bug in worker.py:117', 'worker.py'],
    ['boom\n    at handler (/srv/app.js:10:5)\n    at run (node:internal:3:1)', 'handler'],
    ['Error: boom at Object.run (index.js:1:2)', 'Object.run'],
    [
      'failed\nTraceback (most recent call last):\n  File "/a/b.py", line 3, in f\nValueError',
      'Traceback',
    ],
  ])(verifies('errors.no-internals', 'hides the internals of %j'), (text, internal) => {
    expect(toPublicMessage(text)).not.toContain(internal);
  });

  it('hides the secrets it is given, whatever they look like', () => {
    expect(toPublicMessage('you sent plain words', { secrets: ['plain words'] })).toBe(
      'you sent [redacted]',
    );
  });

  it.each([
    "Invalid value: 'blue'. Supported values are: 'low', 'medium', and 'high'.",
    'messages.0.content.1: text content blocks must be non-empty',
    "Invalid type for 'messages[0].content': expected a string, but got an integer (1.5) instead.",
    'max_tokens: 100000 > 8192, which is the maximum for claude-sonnet-4-20250514',
    'Unsupported parameter: max_tokens is not supported with gpt-4.1-mini. Use max_completion_tokens.',
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
    'meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8 does not support image/png',
    'The model `x` is not available on /v1/chat/completions and/or elsewhere',
    'At least one message is required; look at tools.0.function.name, e.g. at line 3',
    'Unexpected token: expected user_location or key_values at position 5 (offset:3)',
    'Bitte prüfen: ungültige Anfrage 模型不存在',
  ])('leaves %j as it is', (text) => {
    expect(toPublicMessage(text)).toBe(text);
  });

  it('bounds the text and removes control characters', () => {
    expect(toPublicMessage('a\u0000b\r\nc')).toBe('a b c');
    expect(toPublicMessage('word '.repeat(10_000))).toHaveLength(2000);
    expect(toPublicMessage('word word', { maxChars: 5 })).toBe('word…');
  });

  it('never shows a part of a secret at the cut', () => {
    const text = `${'/a/b '.repeat(816)}sk-proj-abcdefghijklmnopqrstuvwxyz`;
    for (let pad = 0; pad < 60; pad++)
      expect(toPublicMessage(' '.repeat(pad) + text)).not.toContain('abcd');
  });

  it('stays fast on hostile text', () => {
    const started = performance.now();
    for (const piece of [
      'a.',
      '/a',
      'a:',
      '*a',
      'at ',
      '0:',
      '-',
      'a@',
      '1.',
      'http:',
      ' at x ',
      '\n',
      '"',
      'A',
      '\\',
    ]) {
      toPublicMessage(piece.repeat(200_000));
    }
    expect(performance.now() - started).toBeLessThan(3000);
  });
});
