/** What tests upload instead of the bundle, which takes six seconds of a core to pack, and 66 MB. */
import type { Bundle } from '../bundle.ts';

export const BUNDLE: Bundle = { file: import.meta.filename, sha256: 'ab'.repeat(32), sizeBytes: 1 };
