-- Lmod: for a tree of `cmake --install build --prefix ROOT/netprof/VERSION`; put it into a module directory as
-- netprof/VERSION.lua, and set the root.
help([[netprof: where communication time and bandwidth went on this node, and whose fault it is. See man netprof.]])
whatis("Name: netprof")
whatis("Version: " .. myModuleVersion())
whatis("Category: performance")

local root = pathJoin(os.getenv("NETPROF_PREFIX") or "/opt/netprof", myModuleVersion())
prepend_path("PATH", pathJoin(root, "bin"))
prepend_path("MANPATH", pathJoin(root, "share/man"))
prepend_path("CPATH", pathJoin(root, "include"))
prepend_path("CMAKE_PREFIX_PATH", root)
prepend_path("PKG_CONFIG_PATH", pathJoin(root, "share/pkgconfig"))
