import { z } from 'zod';
import { parseDuration } from '../../core/time/duration.ts';
import { HARNESS_TIMES } from '../../core/time/harness-times.ts';
import { BACKENDS, EMBEDDED } from '../../store/backends/registry.ts';
import { CHAT_FORMATS } from '../../resources/kinds/chat-webhooks.ts';
import { splitWords } from '../objects/secret-commands.ts';
import { parseSize } from '../source/size.ts';
import { alertSettings } from './alert-schema.ts';
import { jwtSettings } from './jwt-schema.ts';
import { ssoSettings } from './sso-schema.ts';

const port = z.int().min(0).max(65_535);
const publicUrl = z
  .url({ protocol: /^https?$/, error: 'expected an http or https URL' })
  .refine((text) => !/[?#]|^\w+:\/\/[^/]*@/.test(text), {
    error: 'expected a URL without user, query and fragment',
  })
  .transform((url) => url.replace(/(?<!\/)\/+$/, ''))
  .nullable()
  .default(null);
const host = z.string().min(1).default('127.0.0.1');
const listen = z.object({
  host: host.describe('Address to listen on.'),
  port: port.default(8787).describe('Port; 0 takes a free one and prints it.'),
  tls: z
    .object({
      cert: z.string().min(1).describe('File with the certificate and its chain, in PEM.'),
      key: z.string().min(1).describe('File with its private key, in PEM.'),
    })
    .nullable()
    .default(null)
    .describe('Serves HTTPS with this certificate; null: HTTP.'),
});

/** Milliseconds from `500ms`, `2s`, `5m`, `1h` or a number of seconds. */
const duration = z.union([z.string(), z.number()]).transform((value, context) => {
  try {
    return parseDuration(value);
  } catch {
    context.addIssue({
      code: 'custom',
      message: 'expected a duration such as 500ms, 30s, 5m or 1h',
    });
    return z.NEVER;
  }
});

const size = z.union([z.string(), z.number()]).transform((value, context) => {
  const bytes = parseSize(value);
  if (bytes !== undefined && bytes > 0) return bytes;
  context.addIssue({
    code: 'custom',
    message: 'expected a size such as 32MiB or a number of bytes',
  });
  return z.NEVER;
});

const secret = z.string().min(1);
const texts = z.array(z.string().min(1));

const drivers = BACKENDS.flatMap((backend) => backend.drivers);
const others = BACKENDS.flatMap((backend) => backend.others?.description ?? []);
const store = z.object({
  driver: z
    .string()
    .min(1)
    .default(EMBEDDED.drivers[0])
    .describe(`${drivers.join(', ')}, or ${others.join(', or ')}.`),
  path: z.string().min(1).optional().describe('Where the store lies. Default <data_dir>/store.'),
  options: z.record(z.string(), z.unknown()).default({}).describe("The driver's own options."),
});

const limits = z.object({
  rpm: z.int().min(1).nullable().default(null).describe('Requests per minute of the platform.'),
  body: size.prefault('32MiB').describe('Largest request body.'),
  body_memory: size
    .optional()
    .describe(
      'Memory of all request bodies of one process, at least `body`. Default a quarter of its heap limit.',
    ),
  body_values: z
    .int()
    .min(1000)
    .default(250_000)
    .describe('Most JSON values in the body of an inference call; a list of numbers is one.'),
  resource_values: z
    .int()
    .min(1000)
    .default(50_000)
    .describe('Most JSON values in any other body.'),
  answer_values: z
    .int()
    .min(1000)
    .default(2_000_000)
    .describe('Most JSON values in an answer that is translated or rebuilt.'),
  header_bytes: z.int().min(1024).default(16_384).describe('Largest request head.'),
  url_bytes: z.int().min(256).default(8192).describe('Longest request target.'),
  request_timeout: duration.prefault('30s').describe('Time to receive a whole request body.'),
  interaction_wait: duration
    .prefault('60s')
    .describe('How long a call waits for work that goes on at its provider, or for its run.'),
  run_retention: duration
    .prefault('7d')
    .describe('How long a run that is over, and the log of its webhook, are kept.'),
  output_tokens_bound: z
    .int()
    .min(1)
    .default(16_384)
    .describe('Output tokens reserved when neither request nor model bounds them.'),
  unpriced: z
    .enum(['refuse', 'allow'])
    .default('refuse')
    .describe('Routes without a known price in calls under a spending limit: refuse or allow.'),
  max_connections: z.int().min(1).default(10_000).describe('Client connections of one worker.'),
});

/**
 * Shortest retention in milliseconds: what ended just now is still asked for, and clocks of several
 * machines differ.
 */
const MIN_KEPT_MS = 3_600_000;
const kept = duration
  .refine((ms) => ms >= MIN_KEPT_MS, 'expected at least 1h')
  .nullable()
  .default(null);

const retention = z.object({
  events: kept.describe('How long the events of a Session are kept after its end; null: for ever.'),
  records: kept.describe('How long the record of a request is kept; null: for ever.'),
  runs: kept.describe('How long a run of a Schedule is kept; null: for ever.'),
  audit: kept.describe('How long an entry of the audit log is kept; null: for ever.'),
  results: kept.describe(
    'How long the result of work in the background is kept; null: its own time.',
  ),
});

const timeouts = z.object({
  first_content: duration.prefault('120s').describe('To the first content of an answer.'),
  idle: duration.prefault('120s').describe('Between two pieces of a stream.'),
  total: duration.prefault('600s').describe('A whole inference call.'),
});

const log = z.object({
  level: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Least severe line.'),
  format: z.enum(['json', 'text']).default('text').describe('Form of a line.'),
  content: z.boolean().default(false).describe('Keep prompts and answers in request records.'),
});

const command = z.string().refine((text) => splitWords(text).fault === undefined, {
  error: 'expected the first words of a command, such as op, or pass show',
});

const secrets = z.object({
  master_key: secret.optional().describe('Key that seals stored secrets, as a secret reference.'),
  previous_keys: z.array(secret).default([]).describe('Former master keys, which still open.'),
  master_key_file: z
    .string()
    .min(1)
    .optional()
    .describe('Where a generated master key lies. Default <data_dir>/master.key.'),
  exec: z
    .array(command)
    .default([])
    .describe('Commands that secrets may run, by their first words; all: each.'),
});

const media = z.object({
  provider: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('Provider that registers and keeps it; null: the gateway itself.'),
  driver: z
    .string()
    .min(1)
    .default('fs')
    .describe('fs, memory, s3, or the name of another unstorage driver.'),
  path: z.string().min(1).optional().describe('Where it lies. Default <data_dir>/media.'),
  options: z.record(z.string(), z.unknown()).default({}).describe("The driver's own options."),
  max_size: size.prefault('64MiB').describe('Largest image, video or sound that is taken.'),
  fetch_timeout: duration.prefault('30s').describe('To fetch one, redirects included.'),
  link_lifetime: duration.prefault('1h').describe('How long a download_url holds.'),
  public_url: publicUrl.describe(
    'Where providers reach the gateway; lets them fetch media by link.',
  ),
});

const program = {
  command: z.string().min(1).describe('Program to run; found as the shell would.'),
  args: z.array(z.string()).default([]).describe('Its arguments.'),
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string())
    .default({})
    .describe('Variables that it gets beside PATH and HOME; values may be secret references.'),
};
const programName = z.string().regex(/^[\w.-]{1,64}$/, 'expected letters, digits, . _ and -');

const harness = z.object({
  ...program,
  protocol: z.enum(['acp', 'jsonl']).default('acp').describe('What it speaks on stdin and stdout.'),
  timeouts: z
    .object({
      start: duration.prefault(HARNESS_TIMES.start).describe('Until it is ready.'),
      turn: duration.prefault(HARNESS_TIMES.turn).describe('A whole turn.'),
      stop: duration
        .prefault(HARNESS_TIMES.stop)
        .describe('Between the request to end and the kill.'),
    })
    .prefault({})
    .describe('How long it may take.'),
});

const ownWebhook = z.object({
  url: z
    .string()
    .regex(
      /^https?:\/\/[^\s@?#]+$/,
      'expected an http or https URL without user, query or fragment',
    )
    .refine((text) => URL.canParse(text), 'expected a URL')
    .describe('Origin and the beginning of the path; Schedules may announce their runs below it.'),
  format: z.enum(CHAT_FORMATS).describe('The provider whose messages it takes.'),
  success: z
    .enum(['provider', 'status'])
    .default('provider')
    .describe('What counts as delivered: the success body of that provider, or any 2xx.'),
});

const consoleSettings = z.object({
  enabled: z
    .boolean()
    .nullable()
    .default(null)
    .describe(
      'Whether it is served; null: on a loopback address, and where `listen` gives it one of its own.',
    ),
  listen: z
    .object({
      host: host.describe('Address of the console.'),
      port: z.int().min(1).max(65_535).describe('Port of the console.'),
    })
    .nullable()
    .default(null)
    .describe('A separate address for the console, or null.'),
});

const dimension = z
  .string()
  .regex(/^[^\s,=]{1,64}$/, 'expected a name without spaces, commas and equals signs');

const usage = z.object({
  labels: z
    .array(dimension)
    .max(16)
    .default([])
    .describe('Labels of keys by which use is summed: `gateway usage --by label:NAME`.'),
  tags: z
    .array(dimension)
    .max(16)
    .default([])
    .describe('Tags of requests (`x-gateway-tags`) by which use is summed; others are ignored.'),
  end_users: z
    .enum(['plain', 'hashed', 'off'])
    .default('plain')
    .describe('Ids of end users in records and sums: as they come, hashed, or not at all.'),
});

/** The `server` section: read by `start`, never sent (design: Config as code). */
export const serverSchema = z
  .object({
    listen: listen.prefault({}).describe('The address of the gateway.'),
    public_url: publicUrl.describe(
      'Where clients reach the gateway, with a path prefix too: the start of absolute URLs in answers; null: as the request names it.',
    ),
    data_dir: z
      .string()
      .min(1)
      .default('.gateway')
      .describe('Directory of everything kept; relative to the configuration file.'),
    store: store.prefault({}).describe('Where durable state lives.'),
    limits: limits.prefault({}).describe('Bounds of requests.'),
    retention: retention.prefault({}).describe('When what is over is removed.'),
    timeouts: timeouts.prefault({}).describe('Defaults for providers and models.'),
    drain: duration
      .prefault('30s')
      .describe('How long a stop waits for open requests and for turns under way.'),
    drain_idle: duration
      .prefault('1s')
      .describe(
        'How long a stop leaves connections open that nobody uses, for requests that are on their way.',
      ),
    drain_delay: duration
      .prefault('0s')
      .describe(
        'How long a stop goes on taking requests while `/readyz` says 503, for load balancers that ask only now and then.',
      ),
    ledger: z
      .enum(['auto', 'before_call', 'during_call'])
      .default('auto')
      .describe('When the request record is committed.'),
    ledger_sync: z
      .enum(['process', 'group', 'call'])
      .nullable()
      .default(null)
      .describe(
        'What a power cut spares of the ledger; null: `group` for calls with a spending limit, `process` for the others.',
      ),
    log: log.prefault({}).describe('What is logged, and how.'),
    secrets: secrets.prefault({}).describe('The master key.'),
    cors: z
      .object({ origins: texts.default([]).describe('Origins of browsers that may call.') })
      .prefault({})
      .describe('Calls from browsers.'),
    allowed_hosts: texts
      .default([])
      .describe('Accepted Host headers beside loopback; empty accepts all.'),
    metrics: z
      .object({
        listen: z
          .object({
            host: host.describe('Address of the metrics.'),
            port: port.describe('Port of the metrics.'),
          })
          .nullable()
          .default(null)
          .describe('A separate address for metrics, or null.'),
      })
      .prefault({})
      .describe('Prometheus metrics.'),
    console: consoleSettings.prefault({}).describe('The console: pages for people at `/console`.'),
    sso: ssoSettings
      .nullable()
      .default(null)
      .describe('Single sign-on of people: the console and `gateway login --sso`.'),
    outbound: z
      .object({
        allow: texts
          .default([])
          .describe('Hosts, addresses or CIDR blocks of your own network that callers may name.'),
      })
      .prefault({})
      .describe('Addresses that callers supply; only public ones are called by default.'),
    media: media.prefault({}).describe('Media that clients register to name it again.'),
    notifications: z
      .object({
        webhooks: z
          .record(programName, ownWebhook)
          .default({})
          .describe('Chat bots of your own, beside the providers that are known, by name.'),
      })
      .prefault({})
      .describe('Where Schedules may announce their runs.'),
    alerts: alertSettings
      .prefault({})
      .describe('Who is told of budgets, outages, failed Schedules and unpriced calls.'),
    compat: z
      .object({
        resource_x_api_key: z
          .boolean()
          .default(false)
          .describe('Also read x-api-key on the paths of agents, sessions and the like.'),
        model_lists: z
          .boolean()
          .default(false)
          .describe(
            "Also read x-api-key and Google's key header on /v1/models, and answer in the shape of their protocols.",
          ),
      })
      .prefault({})
      .describe('What older clients need.'),
    harnesses: z
      .record(programName, harness)
      .default({})
      .describe('Programs that may run the turns of Agents, by name.'),
    harnesses_inline: z
      .boolean()
      .default(false)
      .describe('Whoever may write an Agent may have it run any program on this machine.'),
    mcp_servers: z
      .record(programName, z.object(program))
      .default({})
      .describe('MCP servers over stdio that Agents may use, by name.'),
    usage: usage.prefault({}).describe('What use is summed by.'),
    jwt: jwtSettings.prefault({}).describe('Tokens of your own issuers in place of keys.'),
    workers: z.int().min(1).max(256).default(1).describe('Processes that serve the address.'),
  })
  .describe('Settings of the process itself.');

export type ServerSettings = z.output<typeof serverSchema>;
