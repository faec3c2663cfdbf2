import { describe, expect, it } from 'vitest';
import { classifyStatus } from '../../src/upstream/classify.ts';
import { clientHeaders } from '../../src/upstream/response-headers.ts';
import { retryAfterMs } from '../../src/upstream/retry-after.ts';
import { verifies } from '../requirements.ts';

describe('classifyStatus', () => {
  it.each([302, 408, 409, 429, 500, 502, 503, 504, 529])(
    '%i goes to the next candidate',
    (status) => {
      expect(classifyStatus(status, '')).toEqual({
        class: 'next-candidate',
        cool: false,
        reason: `status_${status}`,
      });
    },
  );

  it.each([
    "Permission 'aiplatform.endpoints.predict' denied on resource '//aiplatform/publishers/google/models/gemini-2.5-flash' (or it may not exist).",
    'Your account has been flagged',
  ])('a 403 about the account cools it: %s', (message) => {
    const body = JSON.stringify({ error: { message } });
    expect(classifyStatus(403, body)).toMatchObject({ cool: true, reason: 'credential' });
  });

  it.each([401, 402, 403, 407])('%i goes to the next candidate and cools the account', (status) => {
    expect(classifyStatus(status, '{"error":{"message":"no"}}')).toEqual({
      class: 'next-candidate',
      cool: true,
      reason: 'credential',
    });
  });

  it.each([400, 404, 405, 413, 415, 422, 431, 451])('%i is the fault of the request', (status) => {
    const body = '{"error":{"message":"no previous response with id resp_1"}}';
    expect(classifyStatus(status, body)).toEqual({
      class: 'fatal',
      cool: false,
      reason: `status_${status}`,
    });
  });

  it.each([
    [429, '{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}'],
    [
      400,
      '{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}',
    ],
    [402, '{"error":{"message":"Insufficient Balance"}}'],
    [400, '{"error":{"code":"billing_hard_limit_reached"}}'],
    [403, '{"error":{"message":"no","type":"insufficient_quota"}}'],
  ])('%i that says our account is not paid cools it: %s', (status, body) => {
    expect(classifyStatus(status, body)).toEqual({
      class: 'next-candidate',
      cool: true,
      reason: 'billing',
    });
  });

  it.each([
    '{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}',
    '{"error":{"code":400,"message":"API key expired. Please renew the API key."}}',
    '{"error":{"code":400,"message":"no","details":[{"reason":"API_KEY_INVALID"}]}}',
    '[{"error":{"code":400,"message":"no","details":[{"reason":"API_KEY_INVALID"}]}}]',
    '{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xx***yz. You can obtain an API key from https://console.example."}',
    '{"error":{"message":"no","code":"invalid_api_key"}}',
  ])('a 400 that says our key is wrong cools the account: %s', (body) => {
    expect(classifyStatus(400, body)).toEqual({
      class: 'next-candidate',
      cool: true,
      reason: 'credential',
    });
  });

  const WORDS = [
    'invalid_api_key',
    'insufficient_quota',
    'API_KEY_INVALID',
    'API key not valid.',
    'Incorrect API key provided: x',
    'Your credit balance is too low',
    'model_not_found',
    'model x does not exist',
    'x is not a valid model ID',
  ];
  it.each(
    WORDS.flatMap((word) => [
      {
        error: {
          message: `Invalid value: '${word}'. Supported values are: 'system' and 'user'.`,
          type: 'invalid_request_error',
          param: 'messages[0].role',
          code: 'invalid_value',
        },
      },
      { error: { message: `Unknown parameter: ${word}`, code: 'unknown_parameter' } },
      { error: { message: `Unknown parameter: ${word}`, code: 'unknown', param: word } },
      { error: { code: 400, message: 'no', details: [{ fieldViolations: [{ field: word }] }] } },
    ]),
  )("a 400 that quotes the client's own words stays its fault: %j", (body) => {
    const fatal = { class: 'fatal', cool: false };
    for (const status of [400, 404, 422])
      expect(classifyStatus(status, JSON.stringify(body))).toMatchObject(fatal);
  });

  it.each(WORDS)("nor does the name of the client's own member cool an account: %s", (word) => {
    const message = `${word}: Extra inputs are not permitted`;
    const body = JSON.stringify({
      type: 'error',
      error: { type: 'invalid_request_error', message },
    });
    expect(classifyStatus(400, body).cool).toBe(false);
  });

  it('a 403 that quotes what the client sent cools nothing, whatever that says', () => {
    const metadata = { flagged_input: 'insufficient_quota' };
    const message = 'Your chosen model requires moderation and your input was flagged';
    const body = JSON.stringify({ error: { code: 403, message, metadata } });
    expect(classifyStatus(403, body)).toMatchObject({ cool: false, reason: 'status_403' });
  });

  it.each([
    '{"error":{"code":403,"message":"You do not have permission to access the File x or it may not exist."}}',
    '{"error":{"code":403,"message":"CachedContent not found (or permission denied)"}}',
    '{"error":{"code":403,"message":"Your chosen model requires moderation and your input was flagged"}}',
  ])('a 403 about what the client sent cools nothing: %s', (body) => {
    expect(classifyStatus(403, body)).toEqual({
      class: 'next-candidate',
      cool: false,
      reason: 'status_403',
    });
  });

  it('a rate limit that is worded as a quota does not cool the account', () => {
    const body = '{"error":{"message":"You exceeded your current quota, please check your plan"}}';
    expect(classifyStatus(429, body)).toMatchObject({ cool: false, reason: 'status_429' });
  });

  it.each([
    [
      404,
      '{"error":{"message":"The model `x` does not exist or you do not have access to it.","code":"model_not_found"}}',
    ],
    [404, '{"type":"error","error":{"type":"not_found_error","message":"model: claude-x"}}'],
    [
      404,
      '{"error":{"code":404,"message":"models/gemini-x is not found for API version v1beta","status":"NOT_FOUND"}}',
    ],
    [404, '{"error":"model \'llama9\' not found"}'],
    [
      403,
      '{"error":{"message":"Project `proj_x` does not have access to model `x`","code":"model_not_found"}}',
    ],
    [400, '{"error":{"message":"Model Not Exist"}}'],
    [400, '{"error":{"message":"The model has been shut down","code":"model_decommissioned"}}'],
    [
      404,
      '{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again."}}',
    ],
    [404, '{"error":{"message":"The API deployment for this resource does not exist."}}'],
    [
      400,
      '{"object":"error","message":"Invalid model: x","type":"invalid_model","param":null,"code":"1500"}',
    ],
    [400, '{"error":{"message":"acme/x is not a valid model ID","code":400}}'],
    [404, '{"error":{"message":"No endpoints found for acme/x.","code":404}}'],
    [
      404,
      '{"error":{"message":"Unable to access model x. Please visit the list of models","type":"invalid_request_error","param":"model","code":"model_not_available"}}',
    ],
    [404, '{"object":"error","message":"The model `x` does not exist.","type":"NotFoundError"}'],
    [404, '{"code":"Some requested entity was not found","error":"The model x does not exist."}'],
    [404, '{"error":{"message":"Model not found, inaccessible, and/or not deployed"}}'],
    [404, '{"message":"model \'x\' not found, make sure the correct model ID was used"}'],
    [404, '{"error":{"message":"NotFoundError: Upstream - The model `x` does not exist"}}'],
  ])(
    '%i for a model that the provider does not have goes to the next candidate: %s',
    (status, body) => {
      expect(classifyStatus(status, body)).toEqual({
        class: 'next-candidate',
        cool: false,
        reason: 'unknown_model',
      });
    },
  );

  it.each([
    '{"error":{"message":"\'temperature\' is not supported with this model"}}',
    '{"error":{"message":"This model\'s maximum context length is 8192 tokens"}}',
  ])('a 400 that mentions the model stays the fault of the request: %s', (body) => {
    expect(classifyStatus(400, body).class).toBe('fatal');
  });

  it.each([404, 405])("%i in no API's words means our address is wrong", (status) => {
    expect(classifyStatus(status, '<html>not here</html>')).toMatchObject({
      class: 'next-candidate',
      reason: 'wrong_address',
    });
  });

  it("a provider's own rule comes first and may leave an answer to the defaults", () => {
    const rule = {
      classify: (status: number) => (status === 400 ? ('next-candidate' as const) : undefined),
    };
    expect(classifyStatus(400, '{}', rule)).toMatchObject({ class: 'next-candidate', cool: false });
    expect(classifyStatus(422, '{}', rule).class).toBe('fatal');
    expect(classifyStatus(401, '{}', { classify: () => 'fatal' })).toMatchObject({
      class: 'fatal',
      cool: false,
    });
  });

  it('reads only the beginning of a body', () => {
    expect(classifyStatus(400, `{"x":"${' '.repeat(5000)}insufficient_quota"}`).class).toBe(
      'fatal',
    );
  });
});

describe('retryAfterMs', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');

  it.each([
    [{}, undefined],
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 23:00:00 GMT' }, 0],
    [{ 'retry-after': '86400' }, 600_000],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '-5' }, undefined],
    [{ 'retry-after': ['1', '2'] }, undefined],
  ])('%j is %s', (headers, expected) => {
    expect(retryAfterMs(headers, now)).toBe(expected);
  });
});

describe('clientHeaders', () => {
  it(
    verifies(
      'routing.upstream-headers.allow-list',
      'errors.429.no-retry-headers',
      'keeps what is needed to read the body and nothing else',
    ),
    () => {
      expect(
        clientHeaders({
          'content-type': 'application/json',
          'content-disposition': 'attachment',
          'content-language': ['en', 'de'],
          'set-cookie': ['a=b'],
          authorization: 'Bearer x',
          'openai-organization': 'org-1',
          'anthropic-organization-id': 'o',
          'x-ratelimit-remaining-requests': '1',
          'anthropic-ratelimit-tokens-remaining': '1',
          'retry-after': '1',
          'retry-after-ms': '1',
          'content-length': '5',
          'transfer-encoding': 'chunked',
          connection: 'close',
          location: 'https://elsewhere.example/',
          'x-request-id': 'upstream-1',
          'cf-ray': 'x',
          server: 'x',
        }),
      ).toEqual({
        'content-type': 'application/json',
        'content-disposition': 'attachment',
        'content-language': 'en, de',
      });
    },
  );
});
