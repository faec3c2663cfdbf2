#!/usr/bin/env node
// Nothing newer than dynamic import before the version is known: an old Node must get a sentence.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`gateway needs Node.js 20.19 or newer; this is ${process.versions.node}\n`);
  process.exit(1);
}

// Node.js 22 keeps compiled modules between runs; 20 has no such cache.
process.getBuiltinModule?.('node:module').enableCompileCache?.();

// Kubernetes tells pods the address of a Service called gateway in the name of this setting.
if (process.env.GATEWAY_PORT?.startsWith('tcp:')) delete process.env.GATEWAY_PORT;

const io = {
  argv: process.argv.slice(2),
  env: process.env,
  cwd: process.cwd(),
  // Opening one of these costs a millisecond or more, so only commands that use it do.
  get stdin() {
    return process.stdin;
  },
  get stderr() {
    const { stderr } = process;
    if (stderr.listenerCount('error') === 0) stderr.on('error', () => {});
    return stderr;
  },
  stdout: process.stdout,
  signals: process,
  exit: (code) => process.exit(code),
};

// A reader that has seen enough (`| head -1`) is no failure, and none to a command that does more than
// show: it goes on, and ends as it would have ended.
io.stdout.once('error', (error) => {
  io.stdout.write = () => true;
  if (error.code === 'EPIPE') {
    if (io.isStreaming) io.exit(0);
    return;
  }
  process.stderr.write(`error: cannot write to stdout: ${error.message}\n`);
  process.exitCode = 1;
});
io.stdout.on('error', () => {});

/** The version and the list of commands are told without the table of commands. */
function entryOf({ argv, env }) {
  const [word = 'help', ...more] = argv;
  if (more.length > 0 || env.GATEWAY_OUTPUT || env.GATEWAY_JSON) return 'main';
  if (/^(--version|-V|version)$/.test(word)) return 'print-version';
  return /^(--help|-h|help)$/.test(word) ? 'print-help' : 'main';
}

async function start() {
  const { main } = await import(`../dist/lib/${entryOf(io)}.js`);
  // Set, not forced, so that everything that was written arrives.
  process.exitCode = (await main(io)) || process.exitCode;
}

start().catch((error) => {
  const unbuilt =
    error.code === 'ERR_MODULE_NOT_FOUND' &&
    /dist.lib.(main|print-help|print-version)\.js/.test(error.message);
  process.stderr.write(
    unbuilt ? 'gateway is not built: run `npm run build`\n' : `${error.stack}\n`,
  );
  process.exitCode = 1;
});
