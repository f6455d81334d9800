/* How far the program is, told to who runs it: Module.progress(what, done, total). */
mergeInto(LibraryManager.library, {
  tosac_progress: function (what, done, total) {
    if (Module["progress"]) Module["progress"](UTF8ToString(what), done, total);
  },
});
