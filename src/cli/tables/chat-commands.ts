/** Commands that talk with a model, or let another program do so. */
export const CHAT_COMMANDS = [
  {
    name: 'chat',
    summary: 'Talk with a model, or send it one prompt',
    description:
      'Sends one message and streams the answer. Without a prompt it is a conversation on a terminal (/help lists its commands, Ctrl-C stops an answer, Ctrl-D leaves); elsewhere, and with -, the prompt is read from stdin. With -o json the stream is NDJSON.',
    examples: [
      { command: 'gateway chat mock/echo', note: 'A conversation' },
      { command: 'gateway chat mock/echo "hello"', note: 'A single prompt' },
      {
        command: 'gateway chat acme/fast "What is this?" --file photo.png',
        note: 'With a picture',
      },
      {
        command: 'git diff | gateway chat acme/fast --system "Review this"',
        note: 'The prompt from a pipe',
      },
    ],
    args: [
      {
        name: 'model',
        required: true,
        description: 'Name of the model, as `gateway models list` shows it',
      },
      { name: 'prompt', description: 'Prompt; - reads stdin' },
    ],
    flags: [
      {
        name: 'system',
        short: 's',
        type: 'string',
        value: 'TEXT',
        description: 'System message',
      },
      {
        name: 'file',
        type: 'string',
        value: 'PATH|URL',
        repeatable: true,
        description:
          'Send a picture, PDF, WAV, MP3 or text of at most 20 MiB along; the URL of a picture',
      },
      { name: 'no-stream', type: 'boolean', description: 'Wait for the whole answer' },
    ],
    endless: { without: 'prompt' },
    load: () => import('../commands/models/chat.ts'),
  },
  {
    name: 'connect',
    summary: 'Make a coding tool, an editor or a chat use this gateway',
    description:
      'Prints the exact configuration of a tool: address, key, models. Without a tool, lists those that are known. A tool never gets a key that may administer the gateway: where yours may, --write and --run make one of the name of the tool, and use it again the next time.',
    examples: [
      { command: 'gateway connect claude --run', note: 'Start Claude Code on this gateway' },
      {
        command: 'gateway connect codex --write',
        note: 'Write its settings; --undo takes it back',
      },
      { command: 'gateway connect opencode --model acme/fast', note: 'Show what to paste' },
      {
        command: 'gateway connect claude --model acme/coder --background acme/fast --run',
        note: 'A smaller model for what runs in the background',
      },
      {
        command: 'export ANTHROPIC_AUTH_TOKEN="$(gateway connect claude --print-key)"',
        note: 'The same key in every shell',
      },
    ],
    args: [
      { name: 'tool', description: 'Name of the tool; without it, all of them are listed' },
      { name: 'words', variadic: true, description: 'With --run, behind --: words for the tool' },
    ],
    flags: [
      {
        name: 'model',
        short: 'm',
        type: 'string',
        value: 'NAME',
        description: 'Model to use (default: the first that answers in the protocol of the tool)',
      },
      {
        name: 'background',
        type: 'string',
        value: 'NAME',
        description: 'Model for titles, summaries and other work in the background',
      },
      {
        name: 'plan',
        type: 'string',
        value: 'NAME',
        description: 'Model for planning, where the tool plans before it works',
      },
      { name: 'run', type: 'boolean', description: 'Start the tool; change no file' },
      {
        name: 'write',
        type: 'boolean',
        excludes: ['run'],
        description: 'Merge into the file of the tool and keep a backup',
      },
      {
        name: 'undo',
        type: 'boolean',
        excludes: ['write', 'run'],
        description: 'Restore the file as it was before --write',
      },
      {
        name: 'create-key',
        type: 'boolean',
        description: 'Make a key for the tool where there is none, and print it',
      },
      {
        name: 'print-key',
        type: 'boolean',
        excludes: ['write', 'undo', 'run'],
        description: 'Print only the key of the tool: the kept one, or at the first time a new one',
      },
    ],
    endless: { with: ['run'] },
    load: () => import('../commands/models/connect.ts'),
  },
] as const;
