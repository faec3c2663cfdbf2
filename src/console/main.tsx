import { render } from 'preact';
import { App } from './frame/app.tsx';
import { createConsole } from './frame/state.ts';
import './styles/base.css';
import './styles/frame.css';

const root = document.querySelector('#app');
if (root) render(<App state={createConsole(window)} />, root);
