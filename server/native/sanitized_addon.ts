/**
 * Loaded before a suite (`--import`), it gives the native front the addon that SPRITES_TEST_ADDON names, in place of its own.
 */
import { registerHooks } from 'node:module';

const OWN = '/build/Release/front.node';

registerHooks({
  resolve: (specifier, context, next) => {
    return next(specifier.endsWith(OWN) ? (process.env.SPRITES_TEST_ADDON ?? specifier) : specifier, context);
  },
});
