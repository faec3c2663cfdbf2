import { useSignal } from '@preact/signals';
import { clockTime, count, counted, dateTime, duration } from '../../logic/format.ts';
import type { Block, ToolBlock, Turn } from '../../logic/session-timeline.ts';
import { State } from '../../parts/parts.tsx';
import type { Tone } from '../../parts/parts.tsx';

type OnConfirm = (tool: string, result: 'allow' | 'deny') => void;
type OnAnswer = (tool: ToolBlock, text: string) => void;

interface TurnViewProps {
  readonly turn: Turn;
  readonly number: number;
  readonly onConfirm: OnConfirm;
  readonly onAnswer: OnAnswer;
}

/** One turn: its messages, thoughts, calls and answers. */
export function TurnView({ turn, number, ...answers }: TurnViewProps) {
  const at = Date.parse(turn.at);
  const lasted = turn.endedAt === undefined ? undefined : Date.parse(turn.endedAt) - at;
  return (
    <section class="turn" aria-label={`Turn ${number}`}>
      <header>
        <h3>Turn {number}</h3>
        <time dateTime={turn.at} title={dateTime(at)}>
          {clockTime(at)}
        </time>
        <span class="grow" />
        <span>
          {counted(turn.modelRequests, 'model request')} · {count(turn.inputTokens)} in ·{' '}
          {count(turn.outputTokens)} out
          {lasted !== undefined && ` · ${duration(lasted)}`}
        </span>
      </header>
      {turn.blocks.map((block) => (
        <BlockView key={block.id} block={block} {...answers} />
      ))}
    </section>
  );
}

const SPEAKERS = { user: 'User', agent: 'Agent', system: 'System' } as const;

type Answers = Pick<TurnViewProps, 'onConfirm' | 'onAnswer'>;

function BlockView({ block, ...answers }: { block: Block } & Answers) {
  if (block.kind === 'tool') return <ToolView tool={block} {...answers} />;
  if (block.kind === 'mark')
    return (
      <p class={`mark ${block.tone}`}>
        <State tone={block.tone}>{block.text}</State>
      </p>
    );
  if (block.kind === 'thinking')
    return (
      <details class="block thinking">
        <summary>Thinking</summary>
        <p>{block.text || 'not shown by the provider'}</p>
      </details>
    );
  return (
    <div class={`block ${block.kind}`}>
      <span class="speaker">{SPEAKERS[block.kind]}</span>
      <p>{block.text}</p>
    </div>
  );
}

const STATES: Readonly<Record<ToolBlock['state'], readonly [Tone, string]>> = {
  waiting: ['warn', 'waits for you'],
  running: ['busy', 'running'],
  done: ['good', 'done'],
  failed: ['bad', 'failed'],
  denied: ['bad', 'denied'],
};

function ToolView({ tool, onConfirm, onAnswer }: { tool: ToolBlock } & Answers) {
  const [tone, word] = STATES[tool.state];
  const isWaiting = tool.state === 'waiting';
  return (
    <div class={`block tool${isWaiting ? ' asks' : ''}`}>
      <details open={isWaiting}>
        <summary>
          <code>
            {tool.server && <span class="dim">{tool.server} / </span>}
            {tool.name}
          </code>
          <span class="grow" />
          <State tone={tone}>{word}</State>
          <span class="took">{duration(tool.ms)}</span>
        </summary>
        <h4>Arguments</h4>
        <pre tabIndex={0} class="code wrap">
          {JSON.stringify(tool.input, null, 2)}
        </pre>
        {tool.result !== undefined && (
          <>
            <h4>Result</h4>
            <pre tabIndex={0} class="code wrap">
              {tool.result}
            </pre>
          </>
        )}
      </details>
      {isWaiting && tool.resultType !== undefined && <ResultForm tool={tool} onAnswer={onAnswer} />}
      {isWaiting && tool.resultType === undefined && (
        <div class="row asks-row">
          <span class="grow">May the agent call {tool.name}?</span>
          <button type="button" class="button danger" onClick={() => onConfirm(tool.id, 'deny')}>
            Deny
          </button>
          <button type="button" class="button main" onClick={() => onConfirm(tool.id, 'allow')}>
            Allow
          </button>
        </div>
      )}
    </div>
  );
}

function ResultForm({ tool, onAnswer }: { tool: ToolBlock; onAnswer: OnAnswer }) {
  const text = useSignal('');
  return (
    <form
      class="row asks-row"
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer(tool, text.value);
      }}
    >
      <textarea
        class="input grow"
        rows={2}
        aria-label={`Result of ${tool.name}`}
        placeholder={`Result of ${tool.name}`}
        value={text.value}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
      />
      <button type="submit" class="button main" disabled={text.value.trim() === ''}>
        Answer
      </button>
    </form>
  );
}
