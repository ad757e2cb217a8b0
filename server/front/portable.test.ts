import { contract } from './front.contract.ts';
import { PortableFront } from './portable.ts';

contract('portable', (options) => new PortableFront(options));
