{
  'targets': [
    {
      'target_name': 'front',
      'sources': [
        'addon.cc',
        'answer.cc',
        'connection.cc',
        'crossing_scan.cc',
        'deadline_wheel.cc',
        'inbox.cc',
        'io_loop.cc',
        'io_thread.cc',
        'listener.cc',
        'native_front.cc',
        'node_wait.cc',
        'outbox.cc',
        'request_parser.cc',
        'request_pool.cc',
        'unsent_answers.cc',
      ],
      'include_dirs': ["<!(node -p \"require('node-addon-api').include_dir\")"],
      'defines': ['NAPI_VERSION=9', 'NODE_ADDON_API_DISABLE_CPP_EXCEPTIONS', 'NODE_ADDON_API_DISABLE_DEPRECATED'],
      'cflags_cc': ['-std=c++20', '-O3', '-Wall', '-Wextra', '-Wno-missing-field-initializers', '-fvisibility=hidden'],
      'conditions': [['OS!="linux"', {'type': 'none', 'sources': []}]],
    },
  ],
}
