# What is installed, by component: programs (the fleet), demo, service (units, settings), manual.
include(GNUInstallDirs)

set(lapse_daemons
	lapse-producer lapse-consumer lapse-sweeper lapse-retry lapse-gateway lapse-events
	lapse-console)
foreach(program IN LISTS lapse_daemons ITEMS lapsectl)
	if(TARGET ${program})
		install(TARGETS ${program} RUNTIME COMPONENT programs)
	endif()
endforeach()
foreach(program lapse-stock lapse-shop lapse-receiver)
	if(TARGET ${program})
		install(TARGETS ${program} RUNTIME COMPONENT demo)
	endif()
endforeach()

foreach(section 1 8)
	install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section}
		COMPONENT manual FILES_MATCHING PATTERN "*.${section}")
endforeach()

# Fixed folders of the system, whatever the prefix.
install(DIRECTORY deploy/systemd/ DESTINATION /lib/systemd/system COMPONENT service
	FILES_MATCHING PATTERN "*.service" PATTERN "*.target")
install(FILES deploy/debian/lapse.env DESTINATION /etc/lapse COMPONENT service)
install(PROGRAMS scripts/secrets DESTINATION ${CMAKE_INSTALL_DATADIR}/lapse COMPONENT service)
install(FILES deploy/mysql/init/10-users.sh DESTINATION ${CMAKE_INSTALL_DATADIR}/lapse
	COMPONENT service)

# cpack -G DEB, in the build folder: one package with everything but the demo.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME lapse)
set(CPACK_PACKAGE_CONTACT "The Lapse maintainers <lapse@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Closes unpaid orders on time, over RabbitMQ and MySQL")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL programs manual service)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_NAME lapse)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS adduser)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
	${PROJECT_SOURCE_DIR}/deploy/debian/conffiles
	${PROJECT_SOURCE_DIR}/deploy/debian/postinst
	${PROJECT_SOURCE_DIR}/deploy/debian/prerm
	${PROJECT_SOURCE_DIR}/deploy/debian/postrm)
include(CPack)
