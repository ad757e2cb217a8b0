/** `npm start`, as a master or as one of its workers. The command itself is relay_start.ts; what comes before makes each process smaller. */
import '../../tools/lean_http.js';
import '../roles/stop_signals.ts';

await import('./relay_start.ts');
