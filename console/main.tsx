import { render } from 'preact';
import { App } from './app.tsx';
import { followAddress } from './route.ts';
import { fetchNext } from './screens.ts';
import { connect } from './socket.ts';
import { position, receive } from './state.ts';
import './theme.ts';

// The token leaves the address bar before anything is shown.
await connect(position, receive);
followAddress();
render(<App />, document.getElementById('app') as HTMLElement);
fetchNext();
if (localStorage.getItem('switchboard-notify') === 'yes') void import('./notify.ts').then(({ startNotifying }) => startNotifying());
