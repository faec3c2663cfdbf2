import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { defaultHighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, setDiagnostics } from '@codemirror/lint';
import type { Diagnostic } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'preact/hooks';

/** A place in a file with what is wrong there; both count from 1. */
export interface Fault {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly severity: 'error' | 'warning';
}

interface EditorProps {
  readonly label: string;
  readonly text: string;
  readonly faults: readonly Fault[];
  readonly onChange: (text: string) => void;
}

/**
 * An editor of YAML. It stands in a shadow root, where its styles are adopted style sheets: the page
 * allows no style elements.
 */
export function Editor({ label, text, faults, onChange }: EditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const change = useRef(onChange);
  // Text that the editor told last: only another one is from outside and replaces what it holds.
  const told = useRef(text);
  change.current = (next) => {
    told.current = next;
    onChange(next);
  };
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
    if (told.current !== text && editor.state.doc.toString() !== text)
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
    editor.dispatch(
      setDiagnostics(
        editor.state,
        faults.map((fault) => toDiagnostic(editor.state, fault)),
      ),
    );
  }, [text, faults]);
  return <div class="editor" ref={place} />;
}

function stateOf(label: string, doc: string, onChange: (text: string) => void): EditorState {
  return EditorState.create({
    doc,
    extensions: [
      lineNumbers(),
      history(),
      yaml(),
      lintGutter(),
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
