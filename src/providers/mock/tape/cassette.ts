import { z } from 'zod';
import { once } from '../../../core/lazy.ts';
import { GatewayError } from '../../../core/errors.ts';
import { PROTOCOL_IDS } from '../../../protocols/registry.ts';
import { STRICT_VENDORS } from '../strict/strict-vendors.ts';

const TEN_MINUTES = 600_000;
const MAX_TEXT = 1_048_576;
const MAX_CHUNKS = 10_000;

const text = z.string().max(MAX_TEXT);
const count = z.int().min(1).max(1_000_000);
const tokens = z.int().min(0).max(1_000_000_000);
const milliseconds = z.number().min(0).max(TEN_MINUTES);
const headerName = z.string().regex(/^[\w!#$%&'*+.^`|~-]{1,128}$/, 'not a header name');
const headerText = z.string().regex(/^[\t\x20-\x7e\x80-\xff]{0,4096}$/, 'not a header value');
const protocol = z.enum(PROTOCOL_IDS);

const matchSchema = once(() =>
  z
    .strictObject({
      model: z.string().max(512).describe('Upstream model name; `*` stands for any characters.'),
      text: text.describe('Part of the last user text, in any letter case.'),
      turn: count.describe('1 before any assistant turn, 2 after the first, and so on.'),
      protocol: z.union([protocol, z.array(protocol).min(1)]).describe('One protocol or several.'),
      stream: z.boolean().describe('Whether the request asks for a stream.'),
      times: count.describe('Only the first n calls that match the rest.'),
      attempt: count.describe('Only the nth call that matches the rest.'),
    })
    .partial(),
);

const usageSchema = once(() =>
  z
    .strictObject({
      input_tokens: tokens.describe('Uncached input.'),
      output_tokens: tokens.describe('All output, reasoning included.'),
      reasoning_tokens: tokens,
      cache_read_tokens: tokens,
      cache_write_tokens: tokens,
    })
    .partial(),
);

const toolCallSchema = once(() =>
  z.strictObject({
    id: z.string().min(1).max(256).optional(),
    name: z.string().min(1).max(256),
    arguments: z
      .union([text, z.record(z.string(), z.json())])
      .default('{}')
      .describe('An object, or the exact argument text.'),
  }),
);

const errorSchema = once(() =>
  z
    .strictObject({
      message: text,
      type: z.string().max(256),
      code: z.union([z.string().max(256), z.number(), z.null()]),
    })
    .partial(),
);

const rawSchema = once(() =>
  z.strictObject({
    body: z
      .union([text, z.array(text).max(MAX_CHUNKS)])
      .describe('Sent verbatim; a list is sent in pieces.'),
    base64: z.boolean().default(false).describe('The body is base64.'),
    content_type: headerText.default('application/json'),
  }),
);

/** Ways in which a body arrives broken, or in pieces. */
const brokenWays = () => ({
  malformed: z.boolean().describe('Break the JSON of the body, or of one stream event.'),
  cut_after: z
    .int()
    .min(0)
    .max(MAX_CHUNKS)
    .describe('Break the connection after n content chunks; outside a stream, halfway when n > 0.'),
  cut_after_bytes: z
    .int()
    .min(0)
    .max(MAX_TEXT)
    .describe('Break the connection after n body bytes.'),
  cut_before: z.enum(['head', 'first_content']).describe('Break the connection before it.'),
  error_after: z
    .int()
    .min(0)
    .max(MAX_CHUNKS)
    .describe('An error event after n content chunks of a stream.'),
  framing: z.enum(['lf', 'crlf', 'cr']).describe('Line ends of the event stream.'),
  split_bytes: z.int().min(1).max(MAX_TEXT).describe('Deliver the body in pieces of n bytes.'),
  no_done: z.boolean().describe('Leave out the last event (`[DONE]`, `message_stop`, …).'),
});

const replySchema = once(() =>
  z
    .strictObject({
      text: text.describe('What the model says.'),
      reasoning: text.describe('Its reasoning, told before the text.'),
      tool_calls: z.array(toolCallSchema()).max(128),
      refusal: text.describe('A refusal in place of the text.'),
      finish: z
        .string()
        .max(64)
        .describe('stop, length, tool_calls, content_filter, or the exact value of the protocol.'),
      usage: usageSchema()
        .nullable()
        .describe('Overrides the counted tokens; null sends no usage.'),
      chunks: z
        .union([z.int().min(1).max(MAX_CHUNKS), z.array(text).min(1).max(MAX_CHUNKS)])
        .describe('Pieces of a streamed text: how many, or which.'),
      delay_ms: milliseconds.describe('Wait before the response head.'),
      chunk_delay_ms: milliseconds.describe('Wait before each piece of the body.'),
      status: z.int().min(200).max(599),
      error: errorSchema().describe('Body of an error status, or of `error_after`.'),
      retry_after: z
        .union([z.int().min(0).max(86_400), headerText])
        .describe('Retry-After header.'),
      raw: z.union([text, rawSchema()]).describe('The body, verbatim.'),
      ...brokenWays(),
      private_fields: z
        .record(z.string(), z.json())
        .describe('Members added to the body and each event.'),
      headers: z
        .record(headerName, z.union([headerText, z.array(headerText).max(32)]))
        .describe('Further response headers.'),
      encoding: z.enum(['gzip', 'br']).describe('Content coding of the body.'),
      embedding: z.array(z.number()).min(1).max(8192).describe('The vector for each input.'),
      polls: z
        .int()
        .min(0)
        .max(1000)
        .describe('Lookups of background work that find it still running.'),
    })
    .partial(),
);

const ruleSchema = once(() =>
  z.strictObject({ match: matchSchema().optional(), reply: replySchema() }),
);

/**
 * Answers of the mock: the first rule that matches a request, else an echo of the last user text.
 * It is the `mock` member of a provider of `type: mock` and the file of `gateway mock --cassette`.
 * Unknown members are errors; every duration is in milliseconds and at most ten minutes.
 */
export const cassetteSchema = once(() =>
  z.strictObject({
    models: z
      .array(z.string().min(1).max(512))
      .max(1000)
      .default(['echo'])
      .describe('What the model list shows; every name is answered.'),
    strict: z
      .enum(STRICT_VENDORS)
      .optional()
      .describe('Refuse what this vendor refuses, in its words.'),
    rules: z.array(ruleSchema()).max(1000).default([]),
  }),
);

/** A cassette as written. */
export type CassetteInput = z.input<ReturnType<typeof cassetteSchema>>;
/** A cassette with its defaults. */
export type Cassette = z.output<ReturnType<typeof cassetteSchema>>;
export type CassetteRule = z.output<ReturnType<typeof ruleSchema>>;
export type CassetteMatch = z.output<ReturnType<typeof matchSchema>>;
export type CassetteReply = z.output<ReturnType<typeof replySchema>>;
export type CassetteError = z.output<ReturnType<typeof errorSchema>>;

/**
 * Checks a cassette and fills in its defaults. Throws `unprocessable` whose message names every fault
 * with its path (`rules[0].reply.delay_ms: …`); `param` is the first of them.
 */
export function parseCassette(value: unknown): Cassette {
  const parsed = cassetteSchema().safeParse(value);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => ({
    path: z.core.toDotPath(path),
    message,
  }));
  throw new GatewayError('unprocessable', {
    message: `invalid cassette: ${faults.map((fault) => `${fault.path || '(top)'}: ${fault.message}`).join('; ')}`,
    param: faults[0]?.path || undefined,
    cause: parsed.error,
  });
}
