/**
 * Strips the types of TypeScript modules inside node_modules, where Node itself refuses to.
 *
 * Loaded with `--import` when the project runs as an installed package (`npx`); in a checkout Node does it alone.
 */
import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';

registerHooks({
  load(url, context, nextLoad) {
    if (!url.endsWith('.ts')) return nextLoad(url, context);
    return {
      format: 'module',
      source: stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8')),
      shortCircuit: true,
    };
  },
});
