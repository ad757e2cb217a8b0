/**
 * Load this before a suite (`--import`): the native front then loads the addon named by SPRITES_TEST_ADDON instead of its own.
 */
import { registerHooks } from 'node:module';

const OWN = '/build/Release/front.node';

registerHooks({
  resolve: (specifier, context, next) => {
    return next(specifier.endsWith(OWN) ? (process.env.SPRITES_TEST_ADDON ?? specifier) : specifier, context);
  },
});
