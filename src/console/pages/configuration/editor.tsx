import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { defaultHighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { setDiagnostics } from '@codemirror/lint';
import type { Diagnostic } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'preact/hooks';

/** A position in a file with the fault there; both count from 1. */
export interface Fault {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly severity: 'error' | 'warning';
}

interface EditorProps {
  readonly label: string;
  /** Text that it begins with; another one needs another editor, by its key. */
  readonly text: string;
  readonly faults: readonly Fault[];
  readonly onChange: (text: string) => void;
}

/**
 * An editor of YAML. It is in a shadow root, where its styles are adopted style sheets: the page allows no
 * style elements.
 */
export function Editor({ label, text, faults, onChange }: EditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const change = useRef(onChange);
  change.current = onChange;
  useEffect(() => {
    const host = place.current;
    if (!host) return undefined;
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    const editor = new EditorView({
      root,
      parent: root,
      state: stateOf(label, text, (next) => change.current(next)),
    });
    view.current = editor;
    return () => editor.destroy();
  }, []);
  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    editor.dispatch(
      setDiagnostics(
        editor.state,
        faults.map((fault) => toDiagnostic(editor.state, fault)),
      ),
    );
  }, [faults]);
  return <div class="editor" ref={place} />;
}

function stateOf(label: string, doc: string, onChange: (text: string) => void): EditorState {
  return EditorState.create({
    doc,
    extensions: [
      lineNumbers(),
      history(),
      yaml(),
      // Its colours are made for light pages.
      isDark() ? [] : syntaxHighlighting(defaultHighlightStyle),
      keymap.of([...defaultKeymap, ...historyKeymap]),
      EditorView.contentAttributes.of({ 'aria-label': label }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) onChange(update.state.doc.toString());
      }),
      EditorView.theme({
        '&': {
          height: '100%',
          fontSize: '12px',
          backgroundColor: 'var(--bg)',
          color: 'var(--text)',
        },
        '.cm-content': { fontFamily: 'var(--mono)', caretColor: 'var(--text)' },
        '.cm-gutters': { backgroundColor: 'var(--bg-2)', color: 'var(--text-2)', border: '0' },
        '.cm-cursor': { borderLeftColor: 'var(--text)' },
        '.cm-tooltip': { backgroundColor: 'var(--bg)', color: 'var(--text)' },
        // The marks of the package are pictures in the address, which the policy refuses.
        '.cm-lintRange-error': {
          backgroundImage: 'none',
          textDecoration: 'underline wavy var(--bad)',
        },
        '.cm-lintRange-warning': {
          backgroundImage: 'none',
          textDecoration: 'underline wavy var(--warn)',
        },
        '.cm-scroller': { overflow: 'auto' },
      }),
    ],
  });
}

function isDark(): boolean {
  const { theme } = document.documentElement.dataset;
  return (
    theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  );
}

function toDiagnostic(
  { doc }: EditorState,
  { line, column, message, severity }: Fault,
): Diagnostic {
  const found = doc.line(Math.min(Math.max(1, line), doc.lines));
  const from = Math.min(found.from + Math.max(0, column - 1), found.to);
  return { from, to: found.to, message, severity };
}
