import { createContext, Script } from 'node:vm';
import type { ErrorObject } from 'ajv/dist/2020.js';
import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json/value.ts';

type Validate = (input: unknown) => { path: string; message: string } | undefined;

/** Nothing else happens meanwhile: a pattern of a schema may take for ever with the right text. */
const MAX_CHECK_MS = 1_000;

/** Checks inputs against the schemas that models publish. */
export interface InputChecker {
  /** Throws `invalid_request` with the path of the fault, or where that takes a second. */
  check(schema: unknown, input: unknown): Promise<void>;
}

/** Schemas are compiled once for as long as the catalog that holds them is served. */
export function createInputChecker(): InputChecker {
  const compiled = new WeakMap<object, Validate>();
  const inTime = createDeadline();
  return {
    async check(schema, input) {
      // Models without one publish `{type: "object"}`, which every input is.
      if (!isJsonObject(schema)) return;
      const validate = compiled.get(schema) ?? (await compile(schema));
      compiled.set(schema, validate);
      const fault = inTime(() => validate(input));
      if (!fault) return;
      const param = `input${fault.path}`;
      const message = `\`${param}\` ${fault.message}`;
      throw new GatewayError('invalid_request', { message, param });
    },
  };
}

/** Runs synchronous code to its end or, from outside of it, to the end of its time. */
function createDeadline(): <T>(work: () => T) => T {
  const context = createContext({ work: undefined as unknown });
  const script = new Script('work()');
  return <T>(work: () => T): T => {
    context['work'] = work;
    try {
      return script.runInContext(context, { timeout: MAX_CHECK_MS }) as T;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw cause;
      const message = '`input` takes too long to check against the schema of the model';
      throw new GatewayError('invalid_request', { message, param: 'input', cause });
    } finally {
      context['work'] = undefined;
    }
  };
}

/** Loaded with the first schema: most gateways publish none. Throws unless it is a JSON Schema. */
async function compile(schema: Record<string, unknown>): Promise<Validate> {
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  // Schemas of other drafts and with formats of their own are welcome: unknown keywords are not checked.
  const { $schema: _draft, ...rest } = schema;
  const validate = new Ajv2020({ strict: false, validateFormats: false, logger: false }).compile(
    rest,
  );
  return (input) => {
    if (validate(input)) return undefined;
    const [error] = validate.errors ?? [];
    return { path: toPath(error?.instancePath ?? ''), message: toMessage(error) };
  };
}

/** `/messages/0/role` → `.messages[0].role`. */
function toPath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join('');
}

function toMessage(error: ErrorObject | undefined): string {
  const what = error?.message ?? 'does not fit the schema of the model';
  const name: unknown = error?.params['additionalProperty'];
  return typeof name === 'string' ? `${what} (${name.slice(0, 100)})` : what;
}
