/**
 * The pages of the site that need nothing but a relay and a browser, in one process: a relay and a browser take three seconds of a core
 * to start.
 *
 * Takes long: pages wait for each other, and the suites run one after the other.
 */
import './browser_axe.ts';
import './browser_friends.ts';
import './browser_make.ts';
import './browser_moderation.ts';
import './browser_packs.ts';
import './browser_peek.ts';
import './browser_photographs.ts';
import './browser_sayings.ts';
